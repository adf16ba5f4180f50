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
        _ buffer: consuming Buffer, caps: Caps, audioLayout: AudioFrameLayout?,
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

    /// Whether it holds raw audio, in any sample format.
    var isRawAudio: Bool { caps.mediaType == "audio/x-raw" }

    /// Returns the sample with another presentation time. Copies no bytes.
    func due(at time: MediaTime) -> MediaSample {
        MediaSample(
            buffer.retained(), caps: caps, audioLayout: audioLayout, runningTime: time,
            liveTiming: liveTiming)
    }

    /// Whether the sample is a header, which holds no media but data that a decoder needs first,
    /// and has no presentation time: the first packets of Vorbis, Theora and FLAC.
    var isHeader: Bool { runningTime == nil && buffer.isHeader }

    /// Calls `body` with the bytes, which are valid only during the call.
    ///
    /// - Throws: ``FrameError`` if the memory cannot be mapped, and any error that `body` throws.
    func withBytes<R>(_ body: (RawSpan) throws -> R) throws -> R {
        guard let mapped = MappedBuffer(buffer) else {
            throw FrameError(.notMappable, "the \(buffer.byteCount) bytes cannot be mapped")
        }
        return try body(mapped.bytes)
    }
}

extension MediaSample {
    /// The sample as a frame if it is raw audio, otherwise `nil`. Copies no bytes.
    var audioFrame: AudioFrame? {
        guard let audioLayout else { return nil }
        return AudioFrame(
            BufferAudioStorage(buffer.retained(), audioLayout), runningTime: runningTime,
            liveTiming: liveTiming)
    }
}
