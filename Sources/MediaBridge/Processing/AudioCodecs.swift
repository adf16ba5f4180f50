internal import Synchronization

/// Decodes a stream of audio, which may change its codec, on the caller's thread.
///
/// Thread: any, one unit at a time.
final class AudioDecoding: Sendable {
    private let decoder = Mutex<ChainAudioDecoder?>(nil)

    /// Forgets an earlier run.
    func reset() { decoder.withLock { $0 = nil } }

    /// Returns the frames of a unit: a decoder may hold some back, and fill a gap. `nil` if the unit is
    /// damaged.
    ///
    /// - Throws: ``PipelineError`` if no decoder is installed or known.
    func decode(_ unit: EncodedAudioFrame) throws(PipelineError) -> [AudioFrame]? {
        let decoder = try decoder.withLock { present throws(PipelineError) in
            if let present, present.codec == unit.codec { return present }
            let decoder = try ChainAudioDecoder(unit.codec)
            present = decoder
            return decoder
        }
        return try? decoder.decode(unit)
    }
}

/// Decodes audio with GStreamer's own elements, on the caller's thread.
final class ChainAudioDecoder: AudioDecoder {
    private struct State {
        var chain: ElementChain
        /// When the samples after the last unit are due.
        var next: MediaTime?
        var layout: AudioFrameLayout?
        var concealed = 0
    }
    private let state: Mutex<State>
    let codec: AudioCodec
    private let elements: String
    /// The longest gap that a decoder fills: what it makes up fades to silence.
    private static let longestGap = MediaTime(nanoseconds: 120_000_000)

    /// - Throws: ``PipelineError`` if no decoder is installed or known.
    init(_ codec: AudioCodec) throws(PipelineError) {
        self.codec = codec
        elements = try codec.decoder()
        state = Mutex(State(chain: try ElementChain(elements)))
    }

    var concealedSamples: Int { state.withLock { $0.concealed } }

    func decode(_ unit: EncodedAudioFrame) throws -> [AudioFrame] {
        guard unit.codec == codec else {
            throw FrameError(
                .badFormat, "the decoder for \(codec) received a frame in \(unit.codec)")
        }
        let sample = try unit.sample()
        let time = unit.runningTime
        let stamp = time.flatMap { ClockTime($0) }
        return try state.withLock { state in
            var buffer = sample.buffer.retained().withOwnHeader()
            buffer.presentationTime = stamp
            buffer.decodingTime = nil
            let gap = gap(before: time, state.next)
            do throws(PipelineError) {
                let output = try state.chain.processAll(buffer, caps: sample.caps, after: gap)
                let frames = output.compactMap { frame($0, unit, &state) }
                if let last = frames.last, let begin = last.runningTime {
                    state.next = begin + last.format.duration(sampleCount: last.sampleCount)
                }
                return frames
            } catch {
                // An element that failed once takes nothing more.
                state.chain = try ElementChain(elements)
                state.next = nil
                throw error
            }
        }
    }

    private func gap(
        before time: MediaTime?, _ next: MediaTime?
    ) -> (time: ClockTime, duration: ClockTime)? {
        guard codec == .opus, let time, let next, time > next, time - next <= Self.longestGap,
            // Less than the shortest packet is not one that is missing.
            time - next >= MediaTime(nanoseconds: 2_500_000),
            let begin = ClockTime(next), let duration = ClockTime(time - next)
        else { return nil }
        return (begin, duration)
    }

    private func frame(
        _ output: ElementChain.HeldBuffer, _ unit: EncodedAudioFrame, _ state: inout State
    ) -> AudioFrame? {
        if state.layout?.info.caps.identity != output.caps.identity {
            state.layout = AudioInfo(output.caps).flatMap { AudioFrameLayout($0) }
        }
        guard let layout = state.layout else { return nil }
        let time = output.buffer.presentationTime.map { MediaTime($0) }
        let frame = AudioFrame(
            BufferAudioStorage(output.buffer.retained(), layout), runningTime: time,
            liveTiming: unit.liveTiming)
        if let time, let due = unit.runningTime, time < due { state.concealed += frame.sampleCount }
        return frame.sampleCount > 0 ? frame : nil
    }
}

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
    private let encoder: AudioEncoderElement
    private let state = Mutex(State())

    /// - Throws: ``PipelineError`` if the encoder is not installed or not known.
    init(_ settings: AudioEncoderSettings) throws(PipelineError) {
        encoder = try settings.codec.liveEncoder()
        chain = try ElementChain(encoder.liveText(bitRate: settings.bitRate))
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
        guard let (property, value) = encoder.bitRate(bitRate) else { return }
        chain.set(property, value, of: AudioEncoderElement.liveName)
    }

    func expectLoss(of share: Double) {
        guard encoder == .opusenc else { return }
        let percent = Int((share * 100).rounded(.up))
        chain.set("packet-loss-percentage", "\(percent)", of: AudioEncoderElement.liveName)
        chain.set("inband-fec", share > 0 ? "true" : "false", of: AudioEncoderElement.liveName)
    }

    /// Returns `nil` for a header.
    private func unit(_ output: ElementChain.HeldBuffer) -> EncodedAudioFrame? {
        guard let time = output.buffer.presentationTime else { return nil }
        return EncodedAudioFrame(
            MediaSample(
                output.buffer.retained(), caps: output.caps, runningTime: MediaTime(time),
                liveTiming: state.withLock { $0.live }))
    }
}
