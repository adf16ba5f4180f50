/// A video frame: a small, copyable, reference-counted handle on pixels.
///
/// ```swift
/// for try await var frame in source.frames() {
///     let first = try frame.withPlanes { planes in planes[0].row(0)[0] }
///     print("\(frame): \(first)")  // I420 640×360 30/1 at 0:00:00.033333333: 180
///     try frame.withMutablePlanes { planes in planes[0].fill(16) }
///     try await recorder.write(frame)
/// }
/// ```
///
/// Passing a frame on, keeping it, and sending it to any number of outputs copies no pixels. Pixels
/// are accessible only inside the closure of ``withPlanes(_:)``; writing copies them only if
/// another frame or a pipeline still holds them. A frame outlives the pipeline that produced it.
///
/// Thread: any.
public struct VideoFrame: Sendable {
    /// The running time at which the picture is due, in the time of the object that produced it;
    /// `nil` if unknown. Outputs reject a frame without it.
    public var runningTime: MediaTime?

    /// How long the picture is shown; `nil` if unknown.
    public var duration: MediaTime?

    /// How far the picture must be turned clockwise to stand upright.
    public var rotation: VideoRotation

    /// Values that the program attaches to the frame, carried along inside the process; empty by
    /// default.
    public var metadata: [String: String] {
        get { notes ?? [:] }
        set { notes = newValue.isEmpty ? nil : newValue }
    }
    /// `nil` if there are no values, so that copying the frame needs no reference counting for
    /// them.
    @usableFromInline internal var notes: [String: String]?

    /// How running time relates to the shared clock; set on frames of a live capture, otherwise
    /// `nil`.
    public var liveTiming: LiveTiming?

    /// The picture, without its time.
    public var pixelBuffer: PixelBuffer

    /// The memory that holds the pixels.
    @inlinable package var storage: any VideoFrameStorage { pixelBuffer.storage }

    /// Creates a frame from a storage.
    @inlinable
    package init(
        _ storage: any VideoFrameStorage,
        runningTime: MediaTime?,
        duration: MediaTime? = nil,
        rotation: VideoRotation = .upright,
        metadata: [String: String] = [:],
        liveTiming: LiveTiming? = nil
    ) {
        self.runningTime = runningTime
        self.duration = duration
        self.rotation = rotation
        self.notes = metadata.isEmpty ? nil : metadata
        self.liveTiming = liveTiming
        self.pixelBuffer = PixelBuffer(storage)
    }

    /// Creates a frame from a picture, without metadata.
    ///
    /// - Parameters:
    ///   - pixelBuffer: The picture. Its pixels are not copied.
    ///   - runningTime: When the picture is due; `nil` if unknown.
    ///   - duration: How long the picture is shown. Default: `nil`, unknown.
    ///   - rotation: The clockwise rotation for display. Default none.
    public init(
        _ pixelBuffer: PixelBuffer, runningTime: MediaTime?, duration: MediaTime? = nil,
        rotation: VideoRotation = .upright
    ) {
        self.init(
            pixelBuffer.storage, runningTime: runningTime, duration: duration, rotation: rotation)
    }

    /// The format of this frame; that of the next may differ.
    public var format: VideoFormat { storage.format }
    /// The size in pixels.
    public var size: VideoSize { storage.size }
    /// The width in pixels.
    public var width: Int { size.width }
    /// The height in rows.
    public var height: Int { size.height }

    /// Maps the pixels for reading while `body` runs.
    ///
    /// - Throws: ``FrameError`` if the memory cannot be mapped, and any error that `body` throws.
    @inlinable
    public func withPlanes<R>(_ body: (borrowing VideoPlanes) throws -> R) throws -> R {
        try pixelBuffer.withPlanes(body)
    }

    /// Maps the pixels for writing while `body` runs. Copies them first if another frame, or a
    /// pipeline, still holds them.
    ///
    /// - Throws: ``FrameError`` if the memory cannot be mapped or copied, and any error that `body`
    ///   throws.
    @inlinable
    public mutating func withMutablePlanes<R>(
        _ body: (inout MutableVideoPlanes) throws -> R
    ) throws -> R {
        try pixelBuffer.withMutablePlanes(body)
    }

    /// Maps both planes of the pixels, such as those of `NV12`, for writing at the same time while
    /// `body` runs. Copies the pixels first if another frame, or a pipeline, still holds them.
    ///
    /// - Throws: ``FrameError`` if the format does not have two planes, if the memory cannot be
    ///   mapped or copied, and any error that `body` throws.
    public mutating func withMutablePlanes<R>(
        _ body: (inout MutableVideoPlane, inout MutableVideoPlane) throws -> R
    ) throws -> R {
        try pixelBuffer.withMutablePlanes(body)
    }

    /// Maps the three planes of the pixels, such as those of `I420`, for writing at the same time
    /// while `body` runs. Copies the pixels first if another frame, or a pipeline, still holds them.
    ///
    /// - Throws: ``FrameError`` if the format does not have three planes, if the memory cannot be
    ///   mapped or copied, and any error that `body` throws.
    public mutating func withMutablePlanes<R>(
        _ body: (inout MutableVideoPlane, inout MutableVideoPlane, inout MutableVideoPlane) throws
            -> R
    ) throws -> R {
        try pixelBuffer.withMutablePlanes(body)
    }

    /// Whether ``withMutablePlanes(_:)`` would write in place, because nothing else holds the
    /// pixels.
    package var isSoleOwner: Bool { mutating get { pixelBuffer.isSoleOwner } }

    /// Returns the frame with its pixels replaced, as a converter does.
    package func replacingPixels(_ storage: any VideoFrameStorage) -> VideoFrame {
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

/// A picture without a time: a small, copyable, reference-counted handle on pixels. They are copied
/// only when they are written while another reference exists. RTC SDKs on other systems use
/// `CVPixelBuffer` for this.
///
/// ```swift
/// var picture = try PixelBuffer(.i420, size: VideoSize(width: 640, height: 360))  // black
/// try picture.withMutablePlanes { planes in planes[0].fill(235) }  // white
/// let frame = VideoFrame(picture, runningTime: MediaTime(value: 1, timescale: 30))
/// ```
///
/// Thread: any.
public struct PixelBuffer: Sendable {
    /// The memory that holds the pixels.
    @inlinable package var storage: any VideoFrameStorage { pixels }
    @usableFromInline internal var pixels: any VideoFrameStorage

    /// Creates a handle on a storage.
    @inlinable
    package init(_ storage: any VideoFrameStorage) { pixels = storage }

    /// Creates a black picture in newly allocated memory.
    ///
    /// - Parameters:
    ///   - pixelFormat: I420, I422, NV12, NV21, BGRA, RGBA, ARGB or GRAY8. A frame of any other format is
    ///     created by `VideoFrame(_:runningTime:duration:)`.
    ///   - size: The size in pixels.
    /// - Throws: ``FrameError`` if the format is not supported here, the size is out of range, or
    ///   there is no memory.
    public init(_ pixelFormat: VideoPixelFormat, size: VideoSize) throws(FrameError) {
        let planes = try pixelFormat.packedPlanes(size)
        let format = VideoFormat(pixelFormat, width: size.width, height: size.height)
        let storage = try MemoryFrameStorage(format: format, planes: planes)
        self.init(storage)
        try storage.write { planes in
            switch pixelFormat {
            case .gray8: break  // zero is black where luma has its full range
            case .bgra, .rgba: planes.blacken(alphaAt: 3)
            case .argb: planes.blacken(alphaAt: 0)
            default:
                for index in 0..<planes.count {
                    let plane = planes[index]
                    plane.fill(index == 0 ? 16 : 128)
                }
            }
        }
    }

    /// The format of the picture.
    public var format: VideoFormat { storage.format }
    /// The size in pixels.
    public var size: VideoSize { storage.size }
    /// The width in pixels.
    public var width: Int { size.width }
    /// The height in rows.
    public var height: Int { size.height }

    /// Maps the pixels for reading while `body` runs.
    ///
    /// - Throws: ``FrameError`` if the memory cannot be mapped, and any error that `body` throws.
    @inlinable
    public func withPlanes<R>(_ body: (borrowing VideoPlanes) throws -> R) throws -> R {
        var result: Result<R, any Error>?
        try pixels.read { planes in
            do { result = .success(try body(planes)) } catch { result = .failure(error) }
        }
        return try result!.get()  // a storage calls the body once, or throws
    }

    /// Maps the pixels for writing while `body` runs. Copies them first if another frame, or a
    /// pipeline, still holds them.
    ///
    /// - Throws: ``FrameError`` if the memory cannot be mapped or copied, and any error that `body`
    ///   throws.
    @inlinable
    public mutating func withMutablePlanes<R>(
        _ body: (inout MutableVideoPlanes) throws -> R
    ) throws -> R {
        if !isSoleOwner { pixels = try pixels.copy() }
        var result: Result<R, any Error>?
        try pixels.write { planes in
            do { result = .success(try body(&planes)) } catch { result = .failure(error) }
        }
        return try result!.get()  // a storage calls the body once, or throws
    }

    /// Maps both planes of the pixels, such as those of `NV12`, for writing at the same time while
    /// `body` runs. Copies the pixels first if another frame, or a pipeline, still holds them.
    ///
    /// - Throws: ``FrameError`` if the format does not have two planes, if the memory cannot be
    ///   mapped or copied, and any error that `body` throws.
    public mutating func withMutablePlanes<R>(
        _ body: (inout MutableVideoPlane, inout MutableVideoPlane) throws -> R
    ) throws -> R {
        try withMutablePlanes { planes in try planes.separated(body) }
    }

    /// Maps the three planes of the pixels, such as those of `I420`, for writing at the same time
    /// while `body` runs. Copies the pixels first if another frame, or a pipeline, still holds them.
    ///
    /// - Throws: ``FrameError`` if the format does not have three planes, if the memory cannot be
    ///   mapped or copied, and any error that `body` throws.
    public mutating func withMutablePlanes<R>(
        _ body: (inout MutableVideoPlane, inout MutableVideoPlane, inout MutableVideoPlane) throws
            -> R
    ) throws -> R {
        try withMutablePlanes { planes in try planes.separated(body) }
    }

    /// Whether nothing else holds the pixels, so that they may be written in place.
    @usableFromInline
    package var isSoleOwner: Bool {
        mutating get {
            unsafe withUnsafeMutablePointer(to: &pixels) { unsafe isSoleReference($0) }
                && pixels.isWritable
        }
    }
}

extension MutableVideoPlanes {
    /// Sets the alpha of a zeroed picture of four bytes per pixel to opaque; transparent black
    /// would not be visible.
    fileprivate mutating func blacken(alphaAt offset: Int) {
        let plane = self[0]
        plane.withUnsafeMutableBytes { bytes in
            for at in stride(from: offset, to: bytes.count, by: 4) { bytes[at] = 255 }
        }
    }
}
