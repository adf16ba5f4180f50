internal import Synchronization

/// Encodes audio with GStreamer's own elements, on the caller's thread.
///
/// GstAudioEncoder (GStreamer 1.22, property `tolerance`) counts samples and takes gaps of up to 40 ms for
/// jitter: what follows a frame that is missing would be sent too early. So it gets samples without gaps.
final class ChainAudioEncoder: AudioEncoder {
    private struct State {
        var continuity = AudioContinuity()
        /// Of the last frame.
        var live: LiveTiming?
    }
    private let chain: ElementChain
    private let settings: AudioEncoderSettings
    private let state = Mutex(State())

    /// - Throws: ``PipelineError`` if the encoder is not installed or not known.
    init(_ settings: AudioEncoderSettings) throws(PipelineError) {
        self.settings = settings
        chain = try ElementChain(AudioCodecElements.encoder(settings))
    }

    func encode(_ frame: AudioFrame) throws -> [EncodedAudioFrame] {
        guard frame.runningTime != nil else {
            throw FrameError(.badFormat, "audio without a timestamp cannot be encoded")
        }
        let frames = state.withLock { state in
            state.live = frame.liveTiming
            let result = state.continuity.feed(frame)
            guard case .restarted = result.correction else { return result.frames }
            state.continuity.reset()
            return state.continuity.feed(frame).frames
        }
        return try frames.flatMap { try encodeNext($0) }
    }

    private func encodeNext(_ frame: AudioFrame) throws -> [EncodedAudioFrame] {
        guard let time = frame.runningTime.flatMap({ ClockTime($0) }) else {
            throw FrameError(.badFormat, "audio with a negative timestamp cannot be encoded")
        }
        let wrapped = try frame.wrapped()
        let caps = wrapped.caps
        var buffer = wrapped.buffer.retained().withOwnHeader()
        buffer.presentationTime = time
        buffer.duration = nil
        return try chain.processAll(buffer, caps: caps, after: nil).compactMap(unit)
    }

    func finish() throws -> [EncodedAudioFrame] { chain.finish().compactMap(unit) }

    func setBitRate(_ bitRate: Int) {
        var settings = self.settings
        settings.bitRate = bitRate
        guard let value = AudioCodecElements.bitRate(settings) else { return }
        chain.set("bitrate", "\(value)", of: AudioCodecElements.encoderName)
    }

    func expectLoss(of share: Double) {
        guard settings.codec == .opus else { return }
        chain.set(
            "packet-loss-percentage", "\(Int((share * 100).rounded(.up)))",
            of: AudioCodecElements.encoderName)
        chain.set("inband-fec", share > 0 ? "true" : "false", of: AudioCodecElements.encoderName)
    }

    /// Returns `nil` for a header.
    private func unit(_ output: ElementChain.HeldBuffer) -> EncodedAudioFrame? {
        guard let time = output.buffer.presentationTime else { return nil }
        return EncodedAudioFrame(
            MediaSample(
                output.buffer.retained(), caps: output.caps, audioLayout: nil,
                runningTime: MediaTime(time), liveTiming: state.withLock { $0.live }))
    }
}
