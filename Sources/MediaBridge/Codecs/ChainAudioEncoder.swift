internal import Synchronization

/// Encodes audio with GStreamer's own elements, on the caller's thread.
final class ChainAudioEncoder: AudioEncoder {
    private let chain: ElementChain
    private let settings: AudioEncoderSettings
    /// Of the last frame.
    private let live = Mutex<LiveTiming?>(nil)

    /// - Throws: ``PipelineError`` if the encoder is not installed or not known.
    init(_ settings: AudioEncoderSettings) throws(PipelineError) {
        self.settings = settings
        chain = try ElementChain(AudioCodecElements.encoder(settings))
    }

    func encode(_ frame: AudioFrame) throws -> [EncodedAudioFrame] {
        guard let time = frame.runningTime.flatMap({ ClockTime($0) }) else {
            throw FrameError(.badFormat, "audio without a time cannot be encoded")
        }
        let wrapped = try frame.wrapped()
        let caps = wrapped.caps
        var buffer = wrapped.buffer.retained().withOwnHeader()
        buffer.presentationTime = time
        buffer.duration = nil
        live.withLock { $0 = frame.liveTiming }
        return try chain.processAll(buffer, caps: caps, after: nil).compactMap(unit)
    }

    func finish() throws -> [EncodedAudioFrame] { chain.finish().compactMap(unit) }

    func setBitRate(_ bitRate: Int) {
        var settings = self.settings
        settings.bitRate = bitRate
        guard let value = AudioCodecElements.bitRate(settings) else { return }
        chain.set("bitrate", "\(value)", of: AudioCodecElements.encoderName)
    }

    /// Returns `nil` for a header.
    private func unit(_ output: ElementChain.HeldBuffer) -> EncodedAudioFrame? {
        guard let time = output.buffer.presentationTime else { return nil }
        return EncodedAudioFrame(
            MediaSample(
                output.buffer.retained(), caps: output.caps, audioLayout: nil,
                runningTime: MediaTime(time), liveTiming: live.withLock { $0 }))
    }
}
