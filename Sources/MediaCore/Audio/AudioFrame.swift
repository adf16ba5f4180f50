/// A piece of audio: a small, copyable, reference-counted handle on samples.
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
    public private(set) var storage: any AudioFrameStorage

    /// The range of samples of ``storage`` that this frame consists of.
    public private(set) var samples: Range<Int>

    private var statedDuration: MediaTime?

    /// Creates a frame of all samples of a storage.
    ///
    /// - Parameters:
    ///   - storage: The memory that holds the samples.
    ///   - runningTime: When the first sample is due; `nil` if unknown.
    ///   - duration: `nil` to compute it from the number of samples and their rate.
    ///   - liveTiming: For live audio, where its running times lie on the clock. Default: `nil`,
    ///     not live.
    public init(
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
        get { statedDuration ?? format.duration(samples: sampleCount) }
        set { statedDuration = newValue }
    }

    /// The running time at which the frame ends; `nil` if ``runningTime`` is.
    public var endTime: MediaTime? { runningTime.map { $0 + duration } }

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
        let shift = format.duration(samples: kept.lowerBound - samples.lowerBound)
        frame.runningTime = runningTime.map { $0 + shift }
        frame.samples = kept
        frame.statedDuration = nil
        return frame
    }

    /// Returns the frame with its samples replaced, as a converter does.
    public func replacingSamples(_ storage: any AudioFrameStorage) -> AudioFrame {
        var frame = self
        frame.storage = storage
        frame.samples = 0..<storage.sampleCount
        frame.statedDuration = nil
        return frame
    }

    // MARK: Samples

    /// Returns the part of a mapped plane that belongs to this frame.
    private func memory(
        _ planes: borrowing AudioPlanes, _ plane: Int
    ) throws(FrameError) -> UnsafeMutableRawBufferPointer {
        guard planes.planes.indices.contains(plane) else {
            throw FrameError(.badLayout, "no plane \(plane): \(format) has \(format.planes)")
        }
        let stride = format.sampleStride
        let range = samples.lowerBound * stride..<samples.upperBound * stride
        guard planes.planes[plane].count >= range.upperBound else {
            throw FrameError(.badLayout, "a plane is shorter than its \(sampleCount) samples")
        }
        return UnsafeMutableRawBufferPointer(rebasing: planes.planes[plane][range])
    }

    /// Maps a plane for reading while `body` runs.
    func read<R>(
        plane: Int, _ body: (UnsafeMutableRawBufferPointer) throws -> R
    ) throws -> R {
        var result: Result<R, any Error>?
        try storage.read { planes in
            do { result = .success(try body(memory(planes, plane))) } catch {
                result = .failure(error)
            }
        }
        return try result!.get()  // a storage calls the body once, or throws
    }

    /// Maps a plane for writing while `body` runs; copies the samples first if anything else holds
    /// them.
    mutating func write<R>(
        plane: Int, _ body: (UnsafeMutableRawBufferPointer) throws -> R
    ) throws -> R {
        if !Self.isUnique(&storage) || !storage.isWritable {
            storage = try storage.copy(samples)
            samples = 0..<storage.sampleCount
        }
        var result: Result<R, any Error>?
        try storage.write { planes in
            do { result = .success(try body(memory(planes, plane))) } catch {
                result = .failure(error)
            }
        }
        return try result!.get()  // a storage calls the body once, or throws
    }

    /// Whether this frame holds the only reference to the storage. `PixelBuffer` has the reason for
    /// this form.
    private static func isUnique(_ storage: inout any AudioFrameStorage) -> Bool {
        let ask: (inout AnyObject) -> Bool = isKnownUniquelyReferenced
        return unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            let reference = unsafe UnsafeMutableRawPointer(pointer)
                .assumingMemoryBound(to: AnyObject.self)
            return unsafe ask(&reference.pointee)
        }
    }
}

extension AudioFrame: CustomStringConvertible {
    public var description: String {
        "\(sampleCount) samples of \(format) at \(runningTime?.description ?? "no time")"
    }
}
