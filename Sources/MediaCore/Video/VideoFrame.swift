/// One picture: a small, copyable handle on pixels that are counted and never copied on the way.
///
/// Passing a frame on, holding it, and giving it to any number of outputs costs no copy of pixels.
/// Pixels are seen only inside ``withPlanes(_:)``; writing copies them only if someone else still
/// holds them. A frame outlives the pipeline it came from.
///
/// May be used on any thread.
public struct VideoFrame: Sendable {
    /// When the picture is due, in the running time of what made it; `nil` where nobody said.
    /// Outputs reject a frame without it.
    public var runningTime: MediaTime?

    /// How long the picture stays; `nil` where nobody said.
    public var duration: MediaTime?

    /// How far the picture must be turned clockwise to stand upright.
    public var rotation: VideoRotation

    /// The program's own notes, carried along inside the process; empty unless somebody wrote some.
    public var metadata: [String: String] {
        get { notes ?? [:] }
        set { notes = newValue.isEmpty ? nil : newValue }
    }
    /// Nothing to count where nobody wrote anything.
    @usableFromInline internal var notes: [String: String]?

    /// Present on frames of a live capture: how running time relates to the shared clock.
    public var liveTiming: LiveTiming?

    /// The picture, without its time.
    public var pixelBuffer: PixelBuffer

    /// Where the pixels are.
    @inlinable public var storage: any VideoFrameStorage { pixelBuffer.storage }

    @inlinable
    public init(
        _ storage: any VideoFrameStorage,
        runningTime: MediaTime?,
        duration: MediaTime? = nil,
        rotation: VideoRotation = .none,
        liveTiming: LiveTiming? = nil
    ) {
        self.runningTime = runningTime
        self.duration = duration
        self.rotation = rotation
        self.notes = nil
        self.liveTiming = liveTiming
        self.pixelBuffer = PixelBuffer(storage)
    }

    public init(
        _ storage: any VideoFrameStorage,
        runningTime: MediaTime?,
        duration: MediaTime? = nil,
        rotation: VideoRotation = .none,
        metadata: [String: String],
        liveTiming: LiveTiming? = nil
    ) {
        self.init(
            storage, runningTime: runningTime, duration: duration, rotation: rotation,
            liveTiming: liveTiming)
        self.metadata = metadata
    }

    /// What this frame is; the next may be another.
    public var format: VideoFormat { storage.format }
    /// Pixels in a row.
    public var width: Int { format.width }
    /// Rows.
    public var height: Int { format.height }

    /// Maps the pixels for reading while `body` runs.
    ///
    /// - Throws: ``FrameError`` where the memory cannot be mapped, and whatever `body` throws.
    public func withPlanes<R>(_ body: (borrowing VideoPlanes) throws -> R) throws -> R {
        try pixelBuffer.withPlanes(body)
    }

    /// Maps the pixels for writing while `body` runs. Copies them first if another frame, or a
    /// pipeline, still sees them.
    ///
    /// - Throws: ``FrameError`` where the memory cannot be mapped or copied, and whatever `body` throws.
    public mutating func withMutablePlanes<R>(
        _ body: (inout MutableVideoPlanes) throws -> R
    ) throws -> R {
        try pixelBuffer.withMutablePlanes(body)
    }

    /// The same frame with other pixels: what a converter returns.
    public func replacingPixels(_ storage: any VideoFrameStorage) -> VideoFrame {
        var frame = self
        frame.pixelBuffer = PixelBuffer(storage)
        return frame
    }
}

extension VideoFrame: CustomStringConvertible {
    public var description: String {
        "\(format) at \(runningTime?.description ?? "no time")"
    }
}
