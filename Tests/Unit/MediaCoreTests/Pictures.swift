import MediaCore

/// A grey picture of `width` × `height` in one plane with `padding` bytes behind every row.
func gray(
    _ width: Int = 4, _ height: Int = 3, padding: Int = 0
) throws -> MemoryFrameStorage {
    try MemoryFrameStorage(
        format: VideoFormat(.gray8, width: width, height: height),
        planes: [VideoPlaneLayout(offset: 0, stride: width + padding, rows: height, width: width)])
}

/// Memory of `count` bytes that the storage wraps and frees.
func wrapping(
    _ count: Int, planes: [VideoPlaneLayout], writable: Bool = false,
    released: Counter = Counter()
) throws -> MemoryFrameStorage {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 64)
    memory.initializeMemory(as: UInt8.self, repeating: 0)
    let address = UInt(bitPattern: memory.baseAddress)
    do {
        return try MemoryFrameStorage(
            unsafeNoCopy: memory, format: VideoFormat(.gray8, width: 4, height: 3), planes: planes,
            writable: writable
        ) {
            UnsafeMutableRawPointer(bitPattern: address)?.deallocate()
            released.count()
        }
    } catch {
        memory.deallocate()
        throw error
    }
}

extension VideoFrame {
    /// The first byte of the first plane.
    func firstByte() throws -> UInt8 {
        try withPlanes { planes in
            let plane = planes[0]
            return plane.bytes.unsafeLoad(fromByteOffset: 0, as: UInt8.self)
        }
    }

    /// The memory address of the first plane.
    func address() throws -> UInt {
        try withPlanes { planes in
            let plane = planes[0]
            return plane.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        }
    }

    /// Fills the first plane; returns its memory address during the write.
    @discardableResult
    mutating func fill(_ byte: UInt8) throws -> UInt {
        try withMutablePlanes { planes in
            let plane = planes[0]
            plane.fill(byte)
            return plane.withUnsafeMutableBytes { UInt(bitPattern: $0.baseAddress) }
        }
    }
}
