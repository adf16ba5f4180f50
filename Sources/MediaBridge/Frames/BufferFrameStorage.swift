/// A frame's pixels in a GstBuffer.
final class BufferFrameStorage: VideoFrameStorage {
    let buffer: Buffer
    let layout: FrameLayout

    init(_ buffer: consuming Buffer, _ layout: FrameLayout) {
        self.buffer = buffer
        self.layout = layout
    }

    /// The buffer with its caps, as an output takes it.
    var output: ElementChain.BufferWithCaps {
        ElementChain.BufferWithCaps(buffer: buffer.retained(), caps: layout.caps)
    }

    var format: VideoFormat { layout.format }

    var size: VideoSize { VideoSize(width: layout.format.width, height: layout.format.height) }

    var isWritable: Bool { buffer.isWritable }

    func read(_ body: (borrowing VideoPlanes) -> Void) throws(FrameError) {
        let mapped = try map(.read)
        body(VideoPlanes(unsafe: mapped.list, format: format))
    }

    func write(_ body: (inout MutableVideoPlanes) -> Void) throws(FrameError) {
        let mapped = try map(.write)
        var planes = MutableVideoPlanes(unsafe: mapped.list, formats: layout.formats)
        body(&planes)
    }

    func copy() throws(FrameError) -> any VideoFrameStorage {
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
        PlaneList(count: planes.count) { index in
            let plane = planes[index]
            return MappedPlane(
                memory: plane.memory,
                layout: VideoPlaneLayout(
                    offset: 0, stride: plane.stride, rows: plane.rows, width: plane.width,
                    pixelStride: plane.pixelStride, depth: plane.depth))
        }
    }
}
