import MediaCore

/// Pictures of every format that RTC SDKs pass as raw bytes, with known samples.
enum PackedFormats {
    static let all: [VideoPixelFormat] = [
        .i420, .nv12, .nv21, .i422, .bgra, .rgba, .argb, .gray8,
    ]

    /// The byte at this position; neighbouring bytes differ.
    static func sample(_ plane: Int, _ row: Int, _ byte: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: 31 &* plane &+ 7 &* row &+ 13 &* byte &+ row &* byte)
    }

    /// Bytes laid out according to `planes`, with `padding` between rows and planes.
    static func bytes(_ planes: [VideoPlaneLayout], padding: UInt8 = 0xee) -> [UInt8] {
        let count = planes.map { $0.offset + $0.stride * $0.rows }.max() ?? 0
        var bytes = [UInt8](repeating: padding, count: count)
        for (index, plane) in planes.enumerated() {
            for y in 0..<plane.rows {
                for x in 0..<plane.rowBytes {
                    bytes[plane.offset + y * plane.stride + x] = sample(index, y, x)
                }
            }
        }
        return bytes
    }

    /// A picture with gaps between rows and planes, which must not be read.
    static func padded(
        _ format: VideoPixelFormat, _ size: VideoSize
    ) throws -> MemoryFrameStorage {
        var planes = try format.packedPlanes(size)
        var offset = 5
        for index in planes.indices {
            planes[index].offset = offset
            planes[index].stride = planes[index].rowBytes + 3 + 4 * index
            offset += planes[index].stride * planes[index].rows + 9
        }
        let storage = try MemoryFrameStorage(
            format: VideoFormat(format, width: size.width, height: size.height), planes: planes)
        storage.bytes.copyBytes(from: bytes(planes))
        return storage
    }
}

extension VideoFrameStorage {
    /// The samples of each plane's rows.
    func rows() throws -> [[[UInt8]]] {
        var all: [[[UInt8]]] = []
        try read { planes in
            for index in 0..<planes.count {
                let plane = planes[index]
                all.append(
                    (0..<plane.rows).map { y in
                        let row = plane.row(y)
                        return row.indices.map { row[$0] }
                    })
            }
        }
        return all
    }
}
