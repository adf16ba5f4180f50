extension VideoFrame {
    /// Returns the frame as a buffer: a frame that came from a pipeline keeps its buffer, and one in
    /// Swift memory is wrapped. No pixels are copied.
    ///
    /// - Throws: ``FrameError`` for memory that outputs do not support, and for planes that do not
    ///   fit the format; ``PipelineError`` for a format that GStreamer does not accept.
    borrowing func wrapped() throws -> ElementChain.BufferWithCaps {
        if let storage = storage as? BufferFrameStorage {
            guard storage.buffer.holds(storage.layout.info) else {
                throw FrameError(tooFewBytes: storage.buffer.byteCount, of: "\(storage.format)")
            }
            return storage.output
        }
        guard let memory = storage as? MemoryFrameStorage else {
            throw FrameError(.notMappable, "outputs do not support the memory of this frame")
        }
        let layout = try FrameLayout.of(memory.format)
        let bytes = memory.bytes
        let isUsual = memory.planes == layout.planes && bytes.count >= layout.info.byteCount
        if !isUsual { try layout.check(memory.planes) }
        // The closure retains the storage, so the memory stays valid until GStreamer releases the
        // buffer.
        let wrapped = WrappedMemory(memory)
        var buffer = Buffer.wrapping(unsafe: bytes, readOnly: true) { wrapped.giveBack() }
        if !isUsual {
            buffer.describeVideo(
                layout.info, offsets: memory.planes.map(\.offset),
                strides: memory.planes.map(\.stride))
        }
        buffer.duration = duration.flatMap { ClockTime($0) }
        return ElementChain.BufferWithCaps(buffer: buffer, caps: layout.caps)
    }
}
