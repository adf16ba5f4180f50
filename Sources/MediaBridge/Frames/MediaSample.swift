/// A buffer of a stream that is not raw video: audio, or any encoded media, with its times.
///
/// A reference-counted handle; passing it on copies no bytes. Thread: any.
final class MediaSample: Sendable {
    let buffer: Buffer
    /// The caps that describe the bytes; ANY if the capture does not say what they are.
    let caps: Caps
    /// Presentation time, in the running time of its capture, or the decoding time of encoded media
    /// that has no other; `nil` if it has none.
    let runningTime: MediaTime?
    /// Timing of a live capture; `nil` on samples of any other.
    let liveTiming: LiveTiming?
    /// Layout of raw audio; `nil` for anything else.
    let audioLayout: AudioFrameLayout?

    init(
        _ buffer: consuming Buffer, caps: Caps, audioLayout: AudioFrameLayout? = nil,
        runningTime: MediaTime?, liveTiming: LiveTiming?
    ) {
        self.buffer = buffer
        self.caps = caps
        self.audioLayout = audioLayout
        self.runningTime = runningTime
        self.liveTiming = liveTiming
    }

    /// How long the sample lasts: what the buffer says, or for raw audio the number of its samples;
    /// `nil` if unknown.
    var duration: MediaTime? {
        if let duration = buffer.duration { return MediaTime(duration) }
        guard let info = audioLayout?.info ?? AudioInfo(caps) else { return nil }
        return MediaTime(
            value: Int64(buffer.audioSampleCount(info)), timescale: Int32(clamping: info.rate))
    }

    /// The buffer and the caps, for an appsrc.
    var output: ElementChain.BufferWithCaps {
        ElementChain.BufferWithCaps(buffer: buffer.retained(), caps: caps)
    }

    /// Whether it holds raw audio, in any sample format.
    var isRawAudio: Bool { caps.mediaType == "audio/x-raw" }

    /// Returns the sample with another presentation time. Copies no bytes.
    func due(at time: MediaTime) -> MediaSample {
        MediaSample(
            buffer.retained(), caps: caps, audioLayout: audioLayout, runningTime: time,
            liveTiming: liveTiming)
    }

    /// Whether the sample is a header, which holds no media but data that a decoder needs first,
    /// and has no presentation time: the first packets of Vorbis, Theora and FLAC. Parsers of byte streams mark
    /// pictures with parameter sets in the same way.
    var isHeader: Bool {
        runningTime == nil && buffer.isHeader && !Self.codecsWithoutHeaders.contains(caps.mediaType)
    }

    private static let codecsWithoutHeaders: Set = ["video/x-h264", "video/x-h265"]

    /// The sample as a frame if it is raw audio, otherwise `nil`. Copies no bytes.
    var audioFrame: AudioFrame? {
        guard let audioLayout else { return nil }
        return AudioFrame(
            BufferAudioStorage(buffer.retained(), audioLayout), runningTime: runningTime,
            liveTiming: liveTiming)
    }
}

extension MediaSample {
    /// Creates a sample of a frame. Copies no bytes, except of a frame that holds only a part of planar
    /// samples.
    ///
    /// - Throws: ``PipelineError`` for memory that outputs do not support.
    convenience init(_ frame: AudioFrame) throws(PipelineError) {
        let wrapped = try frame.wrapped()
        let caps = wrapped.caps
        self.init(
            wrapped.buffer.retained(), caps: caps,
            audioLayout: try AudioFrameLayout.of(frame.format),
            runningTime: frame.runningTime, liveTiming: frame.liveTiming)
    }
}

// MARK: Encoded frames

/// A buffer of a pipeline as the memory of a unit: no byte is copied.
extension MediaSample: EncodedStorage {
    var byteCount: Int { buffer.byteCount }

    var codecData: [UInt8]? { caps.codecData }

    var size: VideoSize? {
        caps.pictureSize.map { VideoSize(width: $0.width, height: $0.height) }
    }

    var isKeyFrame: Bool? { !buffer.isDelta }

    func read(_ body: (UnsafeRawBufferPointer) -> Void) throws(FrameError) {
        guard let mapped = MappedBuffer(buffer) else {
            throw FrameError(
                .notMappable, "the \(byteCount) bytes of an encoded frame cannot be mapped")
        }
        mapped.bytes.withUnsafeBytes { body($0) }
    }

    /// The largest unit of a program, in bytes: more than any camera gives.
    private static let mostBytes = 8_000_000

    /// The presentation time in the buffer of a unit whose times are the program's: late enough that
    /// no decoding time is negative. An output replaces both by what the sample says.
    private static let presentation = MediaTime(nanoseconds: 3_600_000_000_000)

    /// The times of a unit, as its handle says.
    struct Times: Equatable {
        var running: MediaTime?
        var decoding: MediaTime?
        var duration: MediaTime?
        var live: LiveTiming?
    }

    var times: Times {
        let shift = buffer.presentationTime.flatMap { presented in
            runningTime.map { $0 - MediaTime(presented) }
        }
        return Times(
            running: runningTime,
            decoding: buffer.decodingTime.flatMap { decoded in
                shift.map { MediaTime(decoded) + $0 }
            },
            duration: buffer.duration.map { MediaTime($0) }, live: liveTiming)
    }

    /// Returns a unit as a sample. A unit that came from a pipeline keeps its buffer; one in the
    /// program's memory is copied, since it is small.
    ///
    /// - Parameters:
    ///   - caps: Returns the caps of units whose bytes come from the program.
    ///   - isDelta: Whether such a unit refers to others.
    /// - Throws: ``FrameError`` if there is no memory, and for a unit of the program's that is empty
    ///   or too large; what `caps` throws.
    static func of(
        _ storage: any EncodedStorage, _ times: Times, isDelta: @autoclosure () -> Bool = false,
        caps: () throws(PipelineError) -> Caps
    ) throws(PipelineError) -> MediaSample {
        if let sample = storage as? MediaSample {
            guard sample.times != times else { return sample }
            return sample.with(times)
        }
        let count = storage.byteCount
        guard (1...mostBytes).contains(count) else {
            throw PipelineError(
                .streamFailed,
                message: "an encoded frame of \(count) bytes: 1 to \(mostBytes) are allowed")
        }
        var copy: Buffer?
        do { try storage.read { copy = Buffer.copying($0) } } catch { throw PipelineError(error) }
        guard var buffer = copy.take() else {
            throw PipelineError(
                .streamFailed, message: "cannot allocate \(count) bytes for an encoded frame")
        }
        if isDelta() { buffer.markDelta() }
        return MediaSample(buffer, caps: try caps(), runningTime: nil, liveTiming: nil).with(times)
    }

    private func with(_ times: Times) -> MediaSample {
        var buffer = self.buffer.retained().withOwnHeader()
        buffer.presentationTime = times.running.flatMap { _ in ClockTime(Self.presentation) }
        buffer.decodingTime = times.decoding.flatMap { decoding in
            times.running.flatMap { ClockTime(Self.presentation + decoding - $0) }
        }
        buffer.duration = times.duration.flatMap { ClockTime($0) }
        return MediaSample(
            buffer, caps: caps, runningTime: times.running, liveTiming: times.live)
    }
}

// MARK: Times

extension Buffer {
    /// How much earlier the buffer is decoded than presented; zero if it lacks one of the two
    /// times.
    var reordering: MediaTime {
        guard let presented = presentationTime, let decoded = decodingTime else { return .zero }
        return MediaTime(presented) - MediaTime(decoded)
    }

    /// Returns the same bytes with the presentation time `time`, and with `duration` if the buffer
    /// has none; a decoding time is shifted by the same amount. A buffer that has only a decoding
    /// time is presented when it is decoded: appsrc does the same, but only once its pipeline has a
    /// clock. The buffer's header is copied only if it has to change and is shared.
    consuming func due(at time: ClockTime, for duration: ClockTime?) -> Buffer {
        let lacksDuration = self.duration == nil && duration != nil
        guard presentationTime != time || lacksDuration else { return self }
        let shift = (presentationTime ?? decodingTime).map {
            Int64(clamping: time.nanoseconds) - Int64(clamping: $0.nanoseconds)
        }
        var own = withOwnHeader()
        if lacksDuration { own.duration = duration }
        own.decodingTime = own.decodingTime.flatMap { decoding in
            shift.flatMap {
                ClockTime(MediaTime(nanoseconds: Int64(clamping: decoding.nanoseconds) + $0))
            }
        }
        own.presentationTime = time
        return own
    }
}

// MARK: Queues

/// How many buffers of a kind may wait in a queue between a capture and an output.
enum QueueDepth {
    /// Raw audio: its buffers are short, so that a few would be a few milliseconds.
    static let sound = 64

    /// Units that a recording takes as they are: some seconds, in which a disk may stand still. Pictures of 4K in
    /// JPEG are megabytes each.
    static let copied = QueueLimit(buffers: 256, bytes: 64_000_000)

    /// An encoded stream of a live capture, whose oldest buffers are evicted from a full queue. One
    /// that is lost damages those behind it, and an encoder that looks ahead outputs seconds at
    /// once, in packets of 188 bytes behind mpegtsmux: only a reader that stands still may cost
    /// any.
    static let encoded = 16_384
}
