/// A piece of sound: a small, copyable handle on samples that are counted and never copied on the way.
///
/// Passing a frame on, holding it, cutting it and giving it to any number of outputs costs no copy.
/// Samples are seen only inside of a scope (``withSamples(as:plane:_:)``); writing copies them only if
/// someone else still holds them. A frame outlives the pipeline it came from. May be used on any thread.
public struct AudioFrame: Sendable {
    /// When the first sample is due, in the running time of what made it; `nil` where nobody said.
    public var runningTime: MediaTime?

    /// Present on frames of a live capture: how running time relates to the shared clock.
    public var liveTiming: LiveTiming?

    /// The program's own notes, carried along inside the process; empty unless somebody wrote some.
    public var metadata: [String: String] {
        get { notes ?? [:] }
        set { notes = newValue.isEmpty ? nil : newValue }
    }
    private var notes: [String: String]?

    /// Where the samples are. A frame that was cut shows a part of it: ``samples``.
    public private(set) var storage: any AudioFrameStorage

    /// The samples of ``storage`` that this frame consists of.
    public private(set) var samples: Range<Int>

    private var statedDuration: MediaTime?

    /// - Parameter duration: `nil` for what the samples last at their rate.
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

    /// A copy of interleaved samples.
    ///
    /// - Throws: ``FrameError`` where they are no whole number of samples of every channel, or none.
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

    /// Silence.
    ///
    /// - Parameter sampleCount: Samples of each channel.
    /// - Throws: ``FrameError``: a format out of range, no memory.
    public init(
        silence format: AudioFormat, sampleCount: Int, runningTime: MediaTime?
    ) throws(FrameError) {
        self.init(
            try MemoryAudioStorage(format: format, sampleCount: sampleCount),
            runningTime: runningTime)
    }

    /// What this frame is; the next may be another.
    public var format: AudioFormat { storage.format }
    /// Samples of each channel.
    public var sampleCount: Int { samples.count }
    /// Samples of each channel in a second (Hz).
    public var sampleRate: Int { format.sampleRate }
    public var channels: Int { format.channels }

    /// How long it lasts: what was said of it, or what its samples last at their rate.
    public var duration: MediaTime {
        get { statedDuration ?? format.duration(samples: sampleCount) }
        set { statedDuration = newValue }
    }

    /// When the sample after the last one is due.
    public var endTime: MediaTime? { runningTime.map { $0 + duration } }

    // MARK: Parts

    /// The frame without its first samples, due that much later. Copies nothing.
    ///
    /// - Parameter count: Samples of each channel; more than there are leave an empty frame.
    public func dropFirst(_ count: Int) -> AudioFrame {
        part(samples.lowerBound + min(max(0, count), sampleCount)..<samples.upperBound)
    }

    /// The first samples of the frame, or all where there are fewer. Copies nothing.
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

    /// The same frame with other samples: what a converter returns.
    public func replacingSamples(_ storage: any AudioFrameStorage) -> AudioFrame {
        var frame = self
        frame.storage = storage
        frame.samples = 0..<storage.sampleCount
        frame.statedDuration = nil
        return frame
    }

    // MARK: Samples

    /// The frame's part of a storage's planes.
    private func memory(
        _ planes: borrowing AudioPlanes, _ plane: Int
    ) throws(FrameError) -> UnsafeMutableRawBufferPointer {
        guard planes.planes.indices.contains(plane) else {
            throw FrameError(.badLayout, "plane \(plane), where \(format) has \(format.planes)")
        }
        let stride = format.sampleStride
        let range = samples.lowerBound * stride..<samples.upperBound * stride
        guard planes.planes[plane].count >= range.upperBound else {
            throw FrameError(.badLayout, "a plane shorter than its \(sampleCount) samples")
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

    /// Maps a plane for writing while `body` runs; copies first what somebody else holds.
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

    /// Whether this frame alone holds the storage; `PixelBuffer` says why it is asked so.
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
