internal import Synchronization

/// Converts audio with GStreamer's own `audioconvert` and `audioresample`, on the caller's thread.
///
/// One converter is for one stream: the resampler keeps state from buffer to buffer. If the
/// stream's format changes, a new chain is made. Thread: any, one frame at a time (others wait).
final class SoundConverter: AudioConverter {
    private struct Chain: Sendable {
        let from: AudioFormat
        let to: AudioFormat
        let elements: ElementChain
        let layout: AudioFrameLayout
    }
    private let chain = Mutex<Chain?>(nil)

    func convert(_ frame: AudioFrame, to target: AudioConversion) throws -> AudioFrame? {
        let wanted = target.applied(to: frame.format)
        guard wanted != frame.format else { return frame }
        let wrapped = try frame.wrapped()
        let caps = wrapped.caps
        var buffer = wrapped.buffer.retained().withOwnHeader()
        // The frame's running time becomes the buffer's time, so that the output gets running times
        // too.
        buffer.presentationTime = frame.runningTime.flatMap { ClockTime($0) }
        buffer.duration = nil
        let chain = try self.chain(from: frame.format, to: wanted)
        guard let output = try chain.elements.processIfAny(buffer, caps: caps) else { return nil }
        var result = frame.replacingSamples(
            BufferAudioStorage(output.buffer.retained(), chain.layout))
        if let time = output.buffer.presentationTime, frame.runningTime != nil {
            result.runningTime = MediaTime(time)
        }
        return result.sampleCount > 0 ? result : nil
    }

    private func chain(
        from: AudioFormat, to: AudioFormat
    ) throws(PipelineError) -> Chain {
        if let chain = chain.withLock({ $0 }), chain.from == from, chain.to == to { return chain }
        let layout = try AudioFrameLayout.of(to)
        let fresh = Chain(
            from: from, to: to,
            elements: try ElementChain("audioconvert ! audioresample", to: layout.caps),
            layout: layout)
        // The replaced chain is released outside of the lock.
        _ = chain.withLock { chain in
            defer { chain = fresh }
            return chain
        }
        return fresh
    }
}
