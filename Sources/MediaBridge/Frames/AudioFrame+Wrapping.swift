extension AudioFrame {
    /// Returns the frame as a buffer whose times are not set yet: a frame that came from a pipeline
    /// keeps its buffer, and one in Swift memory is wrapped. A frame that is cut to a part of its
    /// samples stays cut.
    ///
    /// Samples are copied in two cases only: for a part of planar audio that came from a pipeline,
    /// because GStreamer's elements expect the planes one right after the other, and for more
    /// separate planes than a buffer can hold memories.
    ///
    /// - Throws: ``FrameError`` for memory that outputs do not support, and for a frame without
    ///   samples; ``PipelineError`` for a format that GStreamer does not accept.
    borrowing func wrapped() throws -> ElementChain.BufferWithCaps {
        guard sampleCount > 0 else { throw FrameError(.badLayout, "audio frame without samples") }
        if let storage = storage as? BufferAudioStorage {
            guard storage.buffer.holds(storage.layout.info) else {
                throw FrameError(tooFewBytes: storage.buffer.byteCount, of: "\(storage.format)")
            }
            let isWhole = sampleCount == storage.sampleCount
            if isWhole || format.layout == .interleaved {
                let buffer = storage.buffer.retained()
                    .cut(storage.layout.info, to: samples)
                return ElementChain.BufferWithCaps(buffer: buffer, caps: storage.layout.caps)
            }
            return try dense().wrapped()
        }
        guard let memory = storage as? MemoryAudioStorage else {
            throw FrameError(.notMappable, "outputs do not support the memory of this frame")
        }
        let layout = try AudioFrameLayout.of(format)
        let pieces = memory.pieces(of: samples)
        guard pieces.count <= Buffer.mostMemories else { return try dense().wrapped() }
        // The closures retain the storage, so the memory stays valid until GStreamer releases the
        // buffer.
        func buffer(over piece: UnsafeMutableRawBufferPointer) -> Buffer {
            let held = WrappedMemory(memory)
            return Buffer.wrapping(unsafe: piece, readOnly: true) { held.giveBack() }
        }
        var joined = buffer(over: pieces[0])
        for piece in pieces.dropFirst() {
            joined = joined.appending(buffer(over: piece))
        }
        if format.layout == .planar {
            let plane = sampleCount * format.sampleStride
            joined.describeAudio(
                layout.info, sampleCount: sampleCount,
                offsets: (0..<channels).map { $0 * plane })
        }
        return ElementChain.BufferWithCaps(buffer: joined, caps: layout.caps)
    }
}

extension AudioFrame {
    /// Returns a copy of the samples in memory that holds nothing else.
    fileprivate func dense() throws(FrameError) -> AudioFrame {
        replacingSamples(try MemoryAudioStorage(copying: storage, samples: samples))
    }
}

extension MemoryAudioStorage {
    /// Returns the planes in their order in a buffer: as one piece if they are contiguous in
    /// memory.
    fileprivate func pieces(of samples: Range<Int>) -> [UnsafeMutableRawBufferPointer] {
        let (stride, size) = (format.sampleStride, samples.count * format.sampleStride)
        let starts = planeOffsets.map { $0 + samples.lowerBound * stride }
        let isDense = starts.enumerated().allSatisfy { $1 == starts[0] + $0 * size }
        let lengths = isDense ? [size * starts.count] : starts.map { _ in size }
        return zip(starts, lengths).map {
            UnsafeMutableRawBufferPointer(rebasing: bytes[$0..<$0 + $1])
        }
    }
}
