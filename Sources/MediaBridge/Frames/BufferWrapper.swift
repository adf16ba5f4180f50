internal import Synchronization

/// Turns frames into GstBuffers: frames that hold a GstBuffer keep it, frames in Swift memory are
/// wrapped.
final class BufferWrapper: Sendable {
    /// The layout that was made for the last frame in Swift memory.
    private let last = Mutex<FrameLayout?>(nil)
    private let lastAudio = Mutex<AudioFrameLayout?>(nil)

    func wrap(_ frame: VideoFrame) throws -> ElementChain.BufferWithCaps {
        if let storage = frame.storage as? BufferFrameStorage {
            guard storage.buffer.holds(storage.layout.info) else {
                throw FrameError(
                    .notMappable,
                    "\(storage.format) does not lie in the \(storage.buffer.byteCount) bytes of its "
                        + "frame: something in the capture, such as capssetter, says so of another")
            }
            return storage.output
        }
        guard let memory = frame.storage as? MemoryFrameStorage else {
            throw FrameError(.notMappable, "an output does not know the memory of this frame")
        }
        let layout = try layout(of: frame.format)
        try layout.check(memory.planes)
        let bytes = memory.bytes
        // The closure retains the storage, so the memory stays valid until GStreamer releases the
        // buffer.
        let wrapped = WrappedMemory(memory)
        var buffer = Buffer.wrapping(unsafe: bytes, readOnly: true) { wrapped.giveBack() }
        buffer.describeVideo(
            layout.info, offsets: memory.planes.map(\.offset), strides: memory.planes.map(\.stride))
        buffer.duration = frame.duration.flatMap { ClockTime($0) }
        return ElementChain.BufferWithCaps(buffer: buffer, caps: layout.info.caps)
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
