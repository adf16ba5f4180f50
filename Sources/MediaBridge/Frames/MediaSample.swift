/// A piece of a stream that is not raw video: audio, or anything encoded, with its times.
///
/// A counted handle; passing it on copies no bytes. Thread: any.
public final class MediaSample: Sendable {
    let buffer: Buffer
    /// What the bytes are.
    public let caps: Caps
    /// When it is due, in the running time of its capture; `nil` where nobody said.
    public let runningTime: MediaTime?
    /// Present on samples of a live capture.
    public let liveTiming: LiveTiming?
    /// Of raw audio.
    let audioLayout: AudioFrameLayout?

    init(
        _ buffer: consuming Buffer, caps: Caps, audioLayout: AudioFrameLayout?,
        runningTime: MediaTime?, liveTiming: LiveTiming?
    ) {
        self.buffer = buffer
        self.caps = caps
        self.audioLayout = audioLayout
        self.runningTime = runningTime
        self.liveTiming = liveTiming
    }

    /// How long it plays; `nil` where nobody said.
    public var duration: MediaTime? { buffer.duration.map { MediaTime($0) } }

    /// Whether it holds no media but what a decoder must know first, and is due at no time: the first
    /// packets of Vorbis, Theora and FLAC.
    public var isHeader: Bool { runningTime == nil && buffer.isHeader }

    /// Calls `body` with the bytes.
    ///
    /// - Throws: ``FrameError`` where the memory cannot be mapped, and whatever `body` throws.
    public func withBytes<R>(_ body: (RawSpan) throws -> R) throws -> R {
        guard let mapped = MappedBuffer(buffer) else {
            throw FrameError(.notMappable, "the \(buffer.byteCount) bytes cannot be mapped")
        }
        return try body(mapped.bytes)
    }
}
