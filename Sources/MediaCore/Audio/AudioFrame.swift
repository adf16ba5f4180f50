/// A piece of audio: a small, copyable, reference-counted handle on samples.
///
/// ```swift
/// let samples = (0..<480).map { Int16($0 * 20) }  // 10 ms
/// var frame = try AudioFrame(
///     copying: samples, sampleRate: 48_000, channels: 1, runningTime: .zero)
/// try frame.withMutableSamples(as: Int16.self) { samples in
///     for index in samples.indices { samples[index] /= 2 }
/// }
/// let peak = try frame.withSamples(as: Int16.self) { samples in samples[479] }
/// ```
///
/// Passing a frame on, keeping it, cutting it and sending it to any number of outputs copies no
/// samples. Samples are accessible only inside a closure (``withSamples(as:plane:_:)``); writing
/// copies them only if another frame or a pipeline still holds them. A frame outlives the pipeline
/// that produced it. Thread: any.
public struct AudioFrame: Sendable {
    /// The running time of the first sample, in the time of the object that produced the frame;
    /// `nil` if unknown.
    public var runningTime: MediaTime?

    /// How running time relates to the shared clock; set on frames of a live capture, otherwise
    /// `nil`.
    public var liveTiming: LiveTiming?

    /// Values that the program attaches to the frame, carried along inside the process; empty by
    /// default.
    public var metadata: [String: String] {
        get { notes ?? [:] }
        set { notes = newValue.isEmpty ? nil : newValue }
    }
    private var notes: [String: String]?

    /// The memory that holds the samples. A frame that was cut uses only a part of it: ``samples``.
    package private(set) var storage: any AudioFrameStorage

    /// The range of samples of ``storage`` that this frame consists of.
    package private(set) var samples: Range<Int>

    private var statedDuration: MediaTime?

    /// Creates a frame of all samples of a storage.
    ///
    /// - Parameters:
    ///   - storage: The memory that holds the samples.
    ///   - runningTime: When the first sample is due; `nil` if unknown.
    ///   - duration: `nil` to compute it from the number of samples and their rate.
    ///   - liveTiming: For live audio, where its running times lie on the clock. Default: `nil`,
    ///     not live.
    package init(
        _ storage: any AudioFrameStorage, runningTime: MediaTime?, duration: MediaTime? = nil,
        liveTiming: LiveTiming? = nil
    ) {
        self.storage = storage
        samples = 0..<storage.sampleCount
        self.runningTime = runningTime
        self.liveTiming = liveTiming
        statedDuration = duration
    }

    /// Creates a frame from a copy of interleaved samples.
    ///
    /// - Parameters:
    ///   - samples: The samples of all channels, which alternate.
    ///   - sampleRate: Samples per second of each channel, in Hz.
    ///   - channels: The number of channels.
    ///   - runningTime: When the first sample is due; `nil` if unknown.
    /// - Throws: ``FrameError`` if `samples` is empty or does not have the same number of samples
    ///   for every channel.
    public init<Value: AudioSampleValue>(
        copying samples: [Value], sampleRate: Int, channels: Int, runningTime: MediaTime?
    ) throws(FrameError) {
        let format = AudioFormat(Value.sampleFormat, sampleRate: sampleRate, channels: channels)
        let made = samples.withUnsafeBytes { bytes in
            Result { () throws(FrameError) in try MemoryAudioStorage(copying: bytes, format: format)
            }
        }
        self.init(try made.get(), runningTime: runningTime)
    }

    /// Creates a frame of silence.
    ///
    /// - Parameters:
    ///   - format: The format of the samples.
    ///   - sampleCount: Samples of each channel.
    ///   - runningTime: When the first sample is due; `nil` if unknown.
    /// - Throws: ``FrameError`` if the format is out of range or there is no memory.
    public init(
        silence format: AudioFormat, sampleCount: Int, runningTime: MediaTime?
    ) throws(FrameError) {
        self.init(
            try MemoryAudioStorage(format: format, sampleCount: sampleCount),
            runningTime: runningTime)
    }

    /// The format of this frame; that of the next may differ.
    public var format: AudioFormat { storage.format }
    /// The number of samples of each channel.
    public var sampleCount: Int { samples.count }
    /// Samples per second of each channel, in Hz.
    public var sampleRate: Int { format.sampleRate }
    /// The number of channels.
    public var channels: Int { format.channels }

    /// The duration: the value that was set, otherwise computed from the number of samples and
    /// their rate.
    public var duration: MediaTime {
        get { statedDuration ?? format.duration(sampleCount: sampleCount) }
        set { statedDuration = newValue }
    }

    // MARK: Parts

    /// Returns the frame without its first samples; its running time is later by their duration.
    /// Copies no samples.
    ///
    /// - Parameter count: Samples of each channel; if it is at least ``sampleCount``, the result is
    ///   empty.
    public func dropFirst(_ count: Int) -> AudioFrame {
        part(samples.lowerBound + min(max(0, count), sampleCount)..<samples.upperBound)
    }

    /// Returns the first `count` samples of the frame, or all if it has fewer. Copies no samples.
    public func prefix(_ count: Int) -> AudioFrame {
        part(samples.lowerBound..<samples.lowerBound + min(max(0, count), sampleCount))
    }

    private func part(_ kept: Range<Int>) -> AudioFrame {
        guard kept != samples else { return self }
        var frame = self
        let shift = format.duration(sampleCount: kept.lowerBound - samples.lowerBound)
        frame.runningTime = runningTime.map { $0 + shift }
        frame.samples = kept
        frame.statedDuration = nil
        return frame
    }

    /// Returns the frame with its samples replaced, as a converter does.
    package func replacingSamples(_ storage: any AudioFrameStorage) -> AudioFrame {
        var frame = self
        frame.storage = storage
        frame.samples = 0..<storage.sampleCount
        frame.statedDuration = nil
        return frame
    }

    // MARK: Memory

    /// Returns the part of a mapped plane that belongs to this frame.
    private func memory(
        _ planes: [UnsafeMutableRawBufferPointer], _ plane: Int
    ) throws(FrameError) -> UnsafeMutableRawBufferPointer {
        guard planes.indices.contains(plane) else {
            throw FrameError(.badLayout, "no plane \(plane): \(format) has \(format.planes)")
        }
        let stride = format.sampleStride
        let range = samples.lowerBound * stride..<samples.upperBound * stride
        guard planes[plane].count >= range.upperBound else {
            throw FrameError(.badLayout, "a plane is shorter than its \(sampleCount) samples")
        }
        return UnsafeMutableRawBufferPointer(rebasing: planes[plane][range])
    }

    /// Maps a plane for reading while `body` runs.
    private func read<R>(
        plane: Int, _ body: (UnsafeMutableRawBufferPointer) throws -> R
    ) throws -> R {
        var result: Result<R, any Error>?
        try storage.read { planes in result = Result { try body(memory(planes, plane)) } }
        return try result!.get()  // a storage calls the body once, or throws
    }

    /// Maps a plane for writing while `body` runs; copies the samples first if anything else holds
    /// them.
    private mutating func write<R>(
        plane: Int, _ body: (UnsafeMutableRawBufferPointer) throws -> R
    ) throws -> R {
        let isSole = unsafe withUnsafeMutablePointer(to: &storage) { unsafe isSoleReference($0) }
        if !isSole || !storage.isWritable {
            storage = try MemoryAudioStorage(copying: storage, samples: samples)
            samples = 0..<storage.sampleCount
        }
        var result: Result<R, any Error>?
        try storage.write { planes in result = Result { try body(memory(planes, plane)) } }
        return try result!.get()  // a storage calls the body once, or throws
    }
}

extension AudioFrame: CustomStringConvertible {
    public var description: String {
        "\(sampleCount) samples of \(format) at \(runningTime?.description ?? "no time")"
    }
}

// MARK: Samples

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
        let isPlanar = format.isPlanar
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

// MARK: Floats

extension AudioFrame {
    /// Copies the samples as interleaved floats, if that needs no resampling or mixing: 16-bit or
    /// float samples at the target's rate, with the target's channels, or mono, which is copied to
    /// every channel. The result is the same as GStreamer's `audioconvert`.
    ///
    /// - Parameters:
    ///   - floats: Replaced by the samples, each from -1 to 1. Keep it from frame to frame, so that
    ///     no memory is allocated.
    ///   - target: The wanted rate and channels.
    /// - Returns: False if the frame has to be converted; `floats` is unchanged then.
    /// - Throws: ``FrameError`` if the memory cannot be mapped.
    package func copyFloats(to floats: inout [Float], of target: AudioFormat) throws -> Bool {
        let isMono = channels == 1 && target.channels > 1
        guard !format.isPlanar, format.sampleRate == target.sampleRate,
            isMono || channels == target.channels && format.channelMask == target.channelMask
        else { return false }
        let copies = isMono ? target.channels : 1
        switch format.sampleFormat {
        case .s16le:
            try withSamples(as: Int16.self) { samples in
                Self.copy(samples, copies, to: &floats) { Float($0) * (1 / 32768) }
            }
        case .f32le:
            try withSamples(as: Float.self) { samples in
                Self.copy(samples, copies, to: &floats) { $0 }
            }
        default: return false
        }
        return true
    }

    @inline(__always)
    private static func copy<Value>(
        _ samples: Span<Value>, _ copies: Int, to floats: inout [Float],
        _ value: (Value) -> Float
    ) {
        let count = samples.count * copies
        if floats.count != count { floats = [Float](repeating: 0, count: count) }
        samples.withUnsafeBufferPointer { samples in
            floats.withUnsafeMutableBufferPointer { floats in
                switch copies {
                case 1:
                    for index in samples.indices { floats[index] = value(samples[index]) }
                case 2:
                    for index in samples.indices {
                        let sample = value(samples[index])
                        floats[2 * index] = sample
                        floats[2 * index + 1] = sample
                    }
                default:
                    for index in floats.indices { floats[index] = value(samples[index / copies]) }
                }
            }
        }
    }
}
