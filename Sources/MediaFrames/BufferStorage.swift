package import GStreamerKit
public import MediaCore

/// A frame's pixels in a GstBuffer.
package final class BufferFrameStorage: VideoFrameStorage {
    package let buffer: Buffer
    package let layout: FrameLayout

    package init(_ buffer: consuming Buffer, _ layout: FrameLayout) {
        self.buffer = buffer
        self.layout = layout
    }

    package var format: VideoFormat { layout.format }

    package var size: VideoSize {
        VideoSize(width: layout.format.width, height: layout.format.height)
    }

    package var isWritable: Bool { buffer.isWritable }

    package func read(_ body: (borrowing VideoPlanes) -> Void) throws(FrameError) {
        let mapped = try map(.read)
        body(VideoPlanes(unsafe: mapped.list, format: format))
    }

    package func write(_ body: (inout MutableVideoPlanes) -> Void) throws(FrameError) {
        let mapped = try map(.write)
        var planes = MutableVideoPlanes(unsafe: mapped.list, formats: layout.formats)
        body(&planes)
    }

    package func copy() throws(FrameError) -> any VideoFrameStorage {
        guard let copy = buffer.deepCopy() else {
            throw FrameError(.outOfMemory, "cannot allocate \(buffer.byteCount) bytes for a copy")
        }
        return BufferFrameStorage(copy, layout)
    }

    private func map(_ access: MappedVideoFrame.Access) throws(FrameError) -> MappedVideoFrame {
        guard let mapped = MappedVideoFrame(buffer, layout.info, access) else {
            throw FrameError(
                .notMappable,
                "the \(buffer.byteCount) bytes of this buffer cannot be mapped as \(format)")
        }
        return mapped
    }
}

extension MappedVideoFrame {
    /// The planes in MediaCore's type.
    fileprivate var list: PlaneList {
        PlaneList(count: planeCount) { index in
            let plane = plane(index)
            return MappedPlane(memory: plane.memory, layout: VideoPlaneLayout(plane.layout))
        }
    }
}

// MARK: Audio

/// A frame's samples in a GstBuffer.
package final class BufferAudioStorage: AudioFrameStorage {
    package let buffer: Buffer
    package let layout: AudioFrameLayout
    package let sampleCount: Int

    package init(_ buffer: consuming Buffer, _ layout: AudioFrameLayout) {
        sampleCount = buffer.audioSampleCount(layout.info)
        self.buffer = buffer
        self.layout = layout
    }

    package var format: AudioFormat { layout.format }

    package var isWritable: Bool { buffer.isWritable }

    package func read(_ body: ([UnsafeMutableRawBufferPointer]) -> Void) throws(FrameError) {
        let mapped = try map(.read)
        body(mapped.planes)
    }

    package func write(_ body: ([UnsafeMutableRawBufferPointer]) -> Void) throws(FrameError) {
        // A gap flag marks silence; samples that are written may not be silent.
        buffer.clearGapFlag()
        let mapped = try map(.write)
        body(mapped.planes)
    }

    private func map(_ access: MappedAudioBuffer.Access) throws(FrameError) -> MappedAudioBuffer {
        guard let mapped = MappedAudioBuffer(buffer, layout.info, access) else {
            throw FrameError(
                .notMappable,
                "the \(buffer.byteCount) bytes of this buffer cannot be mapped as \(format)")
        }
        return mapped
    }
}

// MARK: New frames

extension VideoFrame {
    /// Creates a frame with newly allocated memory in GStreamer's layout for `format`. The pixels
    /// are not initialised.
    ///
    /// Fill it through `VideoFrame.withMutablePlanes`, which does not copy, because the
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
