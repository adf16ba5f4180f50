import MediaCore

/// A grey picture that is identified by its running time in milliseconds.
func frame(_ milliseconds: Int = 0) throws -> VideoFrame {
    let storage = try MemoryFrameStorage(
        format: VideoFormat(.gray8, width: 4, height: 2),
        planes: [VideoPlaneLayout(offset: 0, stride: 4, rows: 2, width: 4)])
    return VideoFrame(storage, runningTime: MediaTime(.milliseconds(milliseconds)))
}

extension VideoFrame {
    /// The memory address of the first plane.
    func address() throws -> UInt {
        try withPlanes { planes in
            let plane = planes[0]
            return plane.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        }
    }

    /// Fills the first plane.
    mutating func fill(_ byte: UInt8) throws {
        try withMutablePlanes { planes in
            let plane = planes[0]
            plane.fill(byte)
        }
    }

    var milliseconds: Int64 { (runningTime?.nanoseconds ?? -1_000_000) / 1_000_000 }
}
