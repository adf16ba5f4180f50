extension AudioFrame {
    /// Maps the bytes for reading while `body` runs.
    ///
    /// - Parameter plane: Zero where the samples are interleaved; the channel where they are planar.
    /// - Throws: ``FrameError`` where the memory cannot be mapped or there is no such plane, and whatever
    ///   `body` throws.
    public func withBytes<R>(
        plane: Int = 0, _ body: (RawSpan) throws -> R
    ) throws -> R {
        try read(plane: plane) { memory in
            try body(UnsafeRawBufferPointer(memory).bytes)
        }
    }

    /// Maps the samples for reading while `body` runs: interleaved, those of all channels in turn.
    ///
    /// - Parameter plane: Zero where the samples are interleaved; the channel where they are planar.
    /// - Throws: ``FrameError`` with ``FrameError/Code/badFormat`` where the samples are no `Value`s;
    ///   otherwise as ``withBytes(plane:_:)``.
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

    /// Maps the bytes for writing while `body` runs. Copies them first if another frame, or a pipeline,
    /// still sees them.
    ///
    /// - Parameter plane: Zero where the samples are interleaved; the channel where they are planar.
    /// - Throws: ``FrameError`` where the memory cannot be mapped or copied, and whatever `body` throws.
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
    /// - Throws: Also ``FrameError`` with ``FrameError/Code/badFormat`` where the samples are no `Value`s.
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

    /// The samples of one channel, however they lie.
    ///
    /// - Throws: As ``withSamples(as:plane:_:)``.
    public func channel<Value: AudioSampleValue>(
        _ channel: Int, as type: Value.Type = Value.self
    ) throws -> [Value] {
        guard (0..<channels).contains(channel) else {
            throw FrameError(.badLayout, "channel \(channel) of \(channels)")
        }
        let isPlanar = format.layout == .planar
        return try withSamples(as: type, plane: isPlanar ? channel : 0) { span in
            stride(from: isPlanar ? 0 : channel, to: span.count, by: isPlanar ? 1 : channels)
                .map { span[$0] }
        }
    }

    private func require(_ type: any AudioSampleValue.Type) throws(FrameError) {
        guard type.sampleFormat == format.sampleFormat else {
            throw FrameError(.badFormat, "samples of \(format) are no \(type)")
        }
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Memory that a program or a demuxer cuts may begin anywhere.
    fileprivate func isAligned<Value>(for type: Value.Type) -> Bool {
        UInt(bitPattern: baseAddress).isMultiple(of: UInt(MemoryLayout<Value>.alignment))
    }

    fileprivate func copied<Value: BitwiseCopyable>(as type: Value.Type) -> [Value] {
        let size = MemoryLayout<Value>.stride
        return (0..<count / size).map { loadUnaligned(fromByteOffset: $0 * size, as: type) }
    }
}
