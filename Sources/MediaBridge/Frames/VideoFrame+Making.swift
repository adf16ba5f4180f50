extension VideoFrame {
    /// Creates a frame with newly allocated memory in GStreamer's layout for `format`. The pixels
    /// are not initialised.
    ///
    /// Fill it through ``VideoFrame/withMutablePlanes(_:)``, which does not copy, because the
    /// memory is not shared.
    ///
    /// - Parameters:
    ///   - format: Pixel format, size and frame rate.
    ///   - runningTime: Presentation time, in running time. Outputs reject a frame without it.
    ///   - duration: How long the picture is shown; `nil`, the default, if unknown.
    /// - Throws: ``PipelineError`` for a format that GStreamer does not know; ``FrameError`` if
    ///   there is no memory.
    public init(
        _ format: VideoFormat, runningTime: MediaTime?, duration: MediaTime? = nil
    ) throws {
        let layout = try FrameLayout.of(format)
        guard let buffer = Buffer.allocate(byteCount: layout.info.byteCount) else {
            throw FrameError(
                .outOfMemory, "cannot allocate \(layout.info.byteCount) bytes for a frame")
        }
        self.init(
            BufferFrameStorage(buffer, layout), runningTime: runningTime, duration: duration)
    }

    /// Creates a frame over memory of the caller, which is wrapped and not copied.
    ///
    /// - Parameters:
    ///   - memory: The pixels. Must stay valid and unchanged until `release` is called.
    ///   - format: Pixel format, size and frame rate.
    ///   - planes: Layout of each plane in the memory; `nil` for GStreamer's default layout.
    ///   - runningTime: Presentation time, in running time. Outputs reject a frame without it.
    ///   - duration: How long the picture is shown; `nil`, the default, if unknown.
    ///   - release: Called once, on any thread, when no frame and no pipeline reads the memory any
    ///     more.
    /// - Throws: ``FrameError`` with ``FrameError/Code/badLayout`` if the planes do not fit the
    ///   memory or the format; ``PipelineError`` for a format that GStreamer does not know.
    public init(
        unsafeNoCopy memory: UnsafeMutableRawBufferPointer, format: VideoFormat,
        planes: [VideoPlaneLayout]? = nil, runningTime: MediaTime?, duration: MediaTime? = nil,
        release: @escaping @Sendable () -> Void
    ) throws {
        let layout = try FrameLayout.of(format)
        let planes = planes ?? layout.planes
        try layout.check(planes)
        let storage = try MemoryFrameStorage(
            unsafeNoCopy: memory, format: format, planes: planes, release: release)
        self.init(storage, runningTime: runningTime, duration: duration)
    }
}

extension VideoFormat {
    /// Returns GStreamer's default layout of this format's planes.
    ///
    /// - Throws: ``PipelineError`` for a format that GStreamer does not know.
    public func defaultPlanes() throws(PipelineError) -> [VideoPlaneLayout] {
        try FrameLayout.of(self).planes
    }
}
