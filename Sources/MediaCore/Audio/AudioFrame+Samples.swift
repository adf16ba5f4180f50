extension AudioFrame {
    /// Maps the bytes for reading while `body` runs.
    ///
    /// - Parameters:
    ///   - plane: Zero for interleaved samples; the channel for planar ones.
    ///   - body: Gets the bytes, which are valid only while it runs.
    /// - Throws: ``FrameError`` if the memory cannot be mapped or there is no such plane, and any
    ///   error that `body` throws.
    public func withBytes<R>(
        plane: Int = 0, _ body: (RawSpan) throws -> R
    ) throws -> R {
        try read(plane: plane) { memory in
            try body(UnsafeRawBufferPointer(memory).bytes)
        }
    }

    /// Maps the samples for reading while `body` runs. If interleaved, the channels alternate.
    ///
    /// - Parameters:
    ///   - type: The type of one sample: `Int16` for ``AudioSampleFormat/s16le``.
    ///   - plane: Zero for interleaved samples; the channel for planar ones.
    ///   - body: Gets the samples, which are valid only while it runs.
    /// - Throws: ``FrameError`` with ``FrameError/Code/badFormat`` if the samples are not stored as
    ///   `Value`; otherwise as ``withBytes(plane:_:)``.
    public func withSamples<Value: AudioSampleValue, R>(
        as type: Value.Type = Value.self, plane: Int = 0, _ body: (Span<Value>) throws -> R
    ) throws -> R {
        try require(type)
        return try read(plane: plane) { memory in
            guard memory.isAligned(for: type) else {
                return try body(memory.copied(as: type).span)
            }
            return try body(UnsafeBufferPointer(memory.assumingMemoryBound(to: type)).span)
        }
    }

    /// Maps the bytes for writing while `body` runs. Copies them first if another frame, or a
    /// pipeline, still holds them.
    ///
    /// - Parameters:
    ///   - plane: Zero for interleaved samples; the channel for planar ones.
    ///   - body: Gets the bytes, which are valid only while it runs.
    /// - Throws: ``FrameError`` if the memory cannot be mapped or copied, and any error that `body`
    ///   throws.
    public mutating func withMutableBytes<R>(
        plane: Int = 0, _ body: (inout MutableRawSpan) throws -> R
    ) throws -> R {
        try write(plane: plane) { memory in
            var span = memory.mutableBytes
            return try body(&span)
        }
    }

    /// Maps the samples for writing while `body` runs; otherwise as ``withMutableBytes(plane:_:)``.
    ///
    /// - Throws: Also ``FrameError`` with ``FrameError/Code/badFormat`` if the samples are not
    ///   stored as `Value`.
    public mutating func withMutableSamples<Value: AudioSampleValue, R>(
        as type: Value.Type = Value.self, plane: Int = 0,
        _ body: (inout MutableSpan<Value>) throws -> R
    ) throws -> R {
        try require(type)
        return try write(plane: plane) { memory in
            guard memory.isAligned(for: type) else {
                var samples = memory.copied(as: type)
                defer { samples.withUnsafeBytes { memory.copyMemory(from: $0) } }
                var span = samples.mutableSpan
                return try body(&span)
            }
            var span = memory.assumingMemoryBound(to: type).mutableSpan
            return try body(&span)
        }
    }

    /// Returns a copy of the samples of one channel, for either layout.
    ///
    /// - Throws: ``FrameError`` if there is no such channel; otherwise as
    ///   ``withSamples(as:plane:_:)``.
    public func channel<Value: AudioSampleValue>(
        _ channel: Int, as type: Value.Type = Value.self
    ) throws -> [Value] {
        guard (0..<channels).contains(channel) else {
            throw FrameError(.badLayout, "no channel \(channel): the frame has \(channels)")
        }
        let isPlanar = format.layout == .planar
        return try withSamples(as: type, plane: isPlanar ? channel : 0) { span in
            stride(from: isPlanar ? 0 : channel, to: span.count, by: isPlanar ? 1 : channels)
                .map { span[$0] }
        }
    }

    private func require(_ type: any AudioSampleValue.Type) throws(FrameError) {
        guard type.sampleFormat == format.sampleFormat else {
            throw FrameError(.badFormat, "samples of \(format) are not \(type)")
        }
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Whether the memory is aligned for `type`. Memory from a program or a demuxer may begin at
    /// any address.
    fileprivate func isAligned<Value>(for type: Value.Type) -> Bool {
        UInt(bitPattern: baseAddress).isMultiple(of: UInt(MemoryLayout<Value>.alignment))
    }

    fileprivate func copied<Value: BitwiseCopyable>(as type: Value.Type) -> [Value] {
        let size = MemoryLayout<Value>.stride
        return (0..<count / size).map { loadUnaligned(fromByteOffset: $0 * size, as: type) }
    }
}
