extension VideoFrame {
    /// A frame with pixels of its own, laid out as GStreamer lays out `format`, not initialised.
    ///
    /// Fill it through ``VideoFrame/withMutablePlanes(_:)``, which does not copy: nobody else holds it.
    ///
    /// - Parameter runningTime: When the picture is due. Outputs reject a frame without it.
    /// - Throws: ``PipelineError`` for a format GStreamer does not know; ``FrameError`` where there is
    ///   no memory.
    public init(
        _ format: VideoFormat, runningTime: MediaTime?, duration: MediaTime? = nil
    ) throws {
        let layout = try FrameLayout(format)
        guard let buffer = Buffer.allocate(byteCount: layout.info.byteCount) else {
            throw FrameError(.outOfMemory, "no memory for \(layout.info.byteCount) bytes")
        }
        self.init(
            BufferFrameStorage(buffer, layout), runningTime: runningTime, duration: duration)
    }

    /// A frame over memory of yours, which is wrapped and not copied.
    ///
    /// - Parameters:
    ///   - memory: Must stay valid and unchanged until `release` is called.
    ///   - planes: Where each plane lies; `nil` for GStreamer's default layout.
    ///   - release: Called once, on any thread, when no frame and no pipeline reads the memory any more.
    /// - Throws: ``FrameError`` with ``FrameError/Code/badLayout`` where the planes do not fit the
    ///   memory, or the format; ``PipelineError`` for a format GStreamer does not know.
    public init(
        unsafeNoCopy memory: UnsafeMutableRawBufferPointer, format: VideoFormat,
        planes: [VideoPlaneLayout]? = nil, runningTime: MediaTime?, duration: MediaTime? = nil,
        release: @escaping @Sendable () -> Void
    ) throws {
        let layout = try FrameLayout(format)
        let planes = planes ?? layout.info.defaultPlanes
        try layout.check(planes)
        let storage = try MemoryFrameStorage(
            unsafeNoCopy: memory, format: format, planes: planes, release: release)
        self.init(storage, runningTime: runningTime, duration: duration)
    }
}

extension VideoFormat {
    /// Where GStreamer puts the planes of this format by default.
    ///
    /// - Throws: ``PipelineError`` for a format it does not know.
    public func defaultPlanes() throws(PipelineError) -> [VideoPlaneLayout] {
        let info = try VideoInfo(self)
        return info.defaultPlanes
    }
}
