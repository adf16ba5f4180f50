internal import Synchronization

/// Turns frames into GstBuffers: those that are one already as they are, those in Swift memory wrapped.
final class BufferWrapper: Sendable {
    /// The layout made for the last frame in Swift memory.
    private let last = Mutex<FrameLayout?>(nil)
    private let lastAudio = Mutex<AudioFrameLayout?>(nil)

    func wrap(_ frame: VideoFrame) throws -> ElementChain.Output {
        if let storage = frame.storage as? BufferFrameStorage {
            return storage.output
        }
        guard let memory = frame.storage as? MemoryFrameStorage else {
            throw FrameError(.notMappable, "an output does not know the memory of this frame")
        }
        let layout = try layout(of: frame.format)
        let bytes = memory.bytes
        // The closure holds the storage, so the memory stays until GStreamer lets go of the buffer.
        var buffer = Buffer.wrapping(unsafe: bytes, readOnly: true) { [memory] in _ = memory }
        buffer.describeVideo(
            layout.info, offsets: memory.planes.map(\.offset), strides: memory.planes.map(\.stride))
        buffer.duration = frame.duration.flatMap { ClockTime($0) }
        return ElementChain.Output(buffer: buffer, caps: layout.info.caps)
    }

    private func layout(of format: VideoFormat) throws(PipelineError) -> FrameLayout {
        if let layout = last.withLock({ $0 }), layout.format == format { return layout }
        let layout = try FrameLayout(format)
        last.withLock { $0 = layout }
        return layout
    }

    func layout(of format: AudioFormat) throws(PipelineError) -> AudioFrameLayout {
        if let layout = lastAudio.withLock({ $0 }), layout.format == format { return layout }
        let layout = try AudioFrameLayout(format)
        lastAudio.withLock { $0 = layout }
        return layout
    }
}
