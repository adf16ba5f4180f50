internal import Synchronization

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
    private let codec: AudioCodec
    private let elements: String
    /// The longest gap that a decoder fills: what it makes up fades to silence.
    private static let longestGap = MediaTime(nanoseconds: 120_000_000)

    /// - Throws: ``PipelineError`` if no decoder is installed or known.
    init(_ codec: AudioCodec) throws(PipelineError) {
        self.codec = codec
        elements = try AudioCodecElements.decoder(of: codec)
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
                    state.next = begin + last.format.duration(samples: last.sampleCount)
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
