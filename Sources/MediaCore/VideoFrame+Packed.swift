extension VideoFrame {
    /// The picture in memory of its own, laid out without padding.
    ///
    /// - Throws: ``FrameError``: a format that has no such layout, memory that cannot be mapped.
    func packedCopy() throws -> MemoryFrameStorage {
        let size = VideoSize(width: width, height: height)
        let target = try format.pixelFormat.packedPlanes(size)
        let copy = try MemoryFrameStorage(format: format, planes: target)
        try copyRows(to: copy)
        return copy
    }

    private func copyRows(to copy: MemoryFrameStorage) throws {
        var thrown: (any Error)?
        try storage.read { from in
            do {
                try copy.write { to in
                    for index in 0..<min(from.count, to.count) {
                        var target = to.plane(index)
                        target.copyRows(from[index])
                    }
                }
            } catch { thrown = error }
        }
        if let thrown { throw thrown }
    }
}

extension MutableVideoPlane {
    /// Copies the samples of every row; both planes are of one size.
    mutating func copyRows(_ other: borrowing VideoPlane) {
        let (rows, length) = (
            min(self.rows, other.rows), min(layout.rowBytes, other.layout.rowBytes)
        )
        let (from, to) = (other.stride, stride)
        withUnsafeMutableBytes { target in
            other.withUnsafeBytes { source in
                for y in 0..<rows {
                    let row = UnsafeRawBufferPointer(
                        rebasing: source[(y * from)...].prefix(length))
                    UnsafeMutableRawBufferPointer(rebasing: target[(y * to)...].prefix(length))
                        .copyMemory(from: row)
                }
            }
        }
    }
}
