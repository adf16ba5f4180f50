import Testing

@testable import GStreamerKit
@testable import MediaBridge

/// Pictures in which every sample is known, for comparison with the output of GStreamer's own
/// elements. Only rows are compared, because the bytes between rows are undefined.
enum DefinedPicture {
    /// The byte at a position: different in every neighbourhood, and nowhere symmetric.
    static func sample(_ plane: Int, _ row: Int, _ byte: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: 31 &* plane &+ 7 &* row &+ 13 &* byte &+ row &* byte)
    }

    /// The bytes of a picture in the layout `planes`.
    static func bytes(_ planes: [VideoPlaneLayout]) -> [UInt8] {
        let count = planes.map { $0.offset + $0.stride * $0.rows }.max() ?? 0
        var bytes = [UInt8](repeating: 0xee, count: count)
        for (index, plane) in planes.enumerated() {
            for y in 0..<plane.rows {
                for x in 0..<plane.rowBytes {
                    bytes[plane.offset + y * plane.stride + x] = sample(index, y, x)
                }
            }
        }
        return bytes
    }

    /// A picture in a buffer with GStreamer's layout.
    static func frame(_ format: VideoPixelFormat, _ size: VideoSize) throws -> VideoFrame {
        var frame = try VideoFrame(
            VideoFormat(format, width: size.width, height: size.height), runningTime: .zero)
        try frame.withMutablePlanes { planes in
            for index in 0..<planes.count {
                let plane = planes[index]
                let layout = plane.layout
                plane.withUnsafeMutableBytes { bytes in
                    for y in 0..<layout.rows {
                        for x in 0..<layout.rowBytes {
                            bytes[y * layout.stride + x] = sample(index, y, x)
                        }
                    }
                }
            }
        }
        return frame
    }
}

extension VideoFrame {
    /// The samples of each plane's rows.
    var rows: [[[UInt8]]] {
        get throws {
            try withPlanes { planes in
                (0..<planes.count).map { index in
                    let plane = planes[index]
                    return (0..<plane.rows).map { y in
                        let row = plane.row(y)
                        return row.indices.map { row[$0] }
                    }
                }
            }
        }
    }

    /// This frame after processing by GStreamer's elements.
    func through(_ elements: String) throws -> VideoFrame {
        let wrapped = try wrapped()
        let made = try ElementChain(elements).process(
            wrapped.buffer.retained(), caps: wrapped.caps)
        let info = try #require(VideoInfo(made.caps))
        return replacingPixels(BufferFrameStorage(made.buffer.retained(), FrameLayout(info)))
    }
}
