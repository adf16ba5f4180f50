import MediaBridge

/// Captures without hardware, as gst-launch strings.
enum TestPicture: String {
    case bars = "smpte"
    case ball = "ball background-color=0xff205080"
    case snow = "snow"

    /// A capture that ends after two seconds, as a film does.
    var film: String { "videotestsrc num-buffers=60 pattern=\(rawValue) ! \(Self.caps)" }

    /// A live capture without an end, as a camera is.
    var camera: String { "videotestsrc is-live=true pattern=\(rawValue) ! \(Self.caps)" }

    private static let caps = "video/x-raw,format=I420,width=320,height=240,framerate=30/1"
}

extension MutableVideoPlane {
    /// Copies a plane of 8-bit samples into this one, as far as it fits.
    ///
    /// It copies row by row, because the two planes have different strides.
    ///
    /// - Parameters:
    ///   - x: The index in the row at which the copy begins.
    ///   - y: The row at which the copy begins.
    mutating func paste(_ plane: borrowing VideoPlane, x: Int, y: Int) {
        let (stride, width) = (stride, min(plane.width, width - x))
        let (rows, sourceStride) = (min(plane.rows, rows - y), plane.stride)
        guard width > 0, rows > 0 else { return }
        withUnsafeMutableBytes { target in
            plane.withUnsafeBytes { source in
                for row in 0..<rows {
                    let from = source[(row * sourceStride)...].prefix(width)
                    UnsafeMutableRawBufferPointer(
                        rebasing: target[((y + row) * stride + x)...].prefix(width)
                    ).copyMemory(from: UnsafeRawBufferPointer(rebasing: from))
                }
            }
        }
    }
}
