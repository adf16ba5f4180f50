import MediaBridgeElements

/// Averages the pixels around each pixel, in every plane.
///
/// ```sh
/// gst-launch-1.0 videotestsrc ! blur radius=8 ! videoconvert ! autovideosink
/// ```
final class Blur: VideoProcessor, MediaElement, Sendable {
    static let summary = "Averages the pixels around each pixel"
    static let caps = "video/x-raw, format={ I420, YV12, Y42B, Y444, GRAY8 }"

    let radius = MediaProperty(
        "The distance to the farthest pixel that counts, in pixels", in: 0...64, default: 3)

    init() {}

    func process(_ frame: consuming VideoFrame) throws -> VideoFrame? {
        let radius = radius.value
        guard radius > 0 else { return frame }
        try frame.withMutablePlanes { planes in
            for index in 0..<planes.count {
                let plane = planes[index]
                let (width, rows, stride) = (plane.width, plane.rows, plane.stride)
                plane.withUnsafeMutableBytes { bytes in
                    for y in 0..<rows { Self.average(bytes, y * stride, width, 1, radius) }
                    for x in 0..<width { Self.average(bytes, x, rows, stride, radius) }
                }
            }
        }
        return frame
    }

    /// Replaces each of `count` bytes by the average of it and its neighbours in the line.
    private static func average(
        _ bytes: UnsafeMutableRawBufferPointer, _ first: Int, _ count: Int, _ step: Int,
        _ radius: Int
    ) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count) { line in
            var sum = 0
            for index in 0..<count {
                line[index] = bytes[first + index * step]
                if index <= radius { sum += Int(line[index]) }
            }
            var (begin, end) = (0, min(radius, count - 1))
            for index in 0..<count {
                bytes[first + index * step] = UInt8(sum / (end - begin + 1))
                if end + 1 < count {
                    end += 1
                    sum += Int(line[end])
                }
                if index >= radius {
                    sum -= Int(line[begin])
                    begin += 1
                }
            }
        }
    }
}
