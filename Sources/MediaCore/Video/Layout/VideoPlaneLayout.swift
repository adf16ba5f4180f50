/// The position and layout of one plane of a picture in memory.
public struct VideoPlaneLayout: Hashable, Sendable {
    /// Bytes from the start of the memory to the plane's first row.
    public var offset: Int
    /// Bytes from one row to the next; at least ``rowBytes``, often more.
    public var stride: Int
    /// The number of rows.
    public var rows: Int
    /// The number of samples in a row. For 4:2:0 chroma this is half the picture's width, rounded
    /// up.
    public var width: Int
    /// Bytes from one sample to the next. Zero if that is not a whole number (packed 10 bit).
    public var pixelStride: Int
    /// The number of significant bits in a sample: 8, 10, 12 or 16.
    public var depth: Int

    /// Creates a layout, by default with 8-bit samples of one byte.
    public init(
        offset: Int, stride: Int, rows: Int, width: Int, pixelStride: Int = 1, depth: Int = 8
    ) {
        self.offset = offset
        self.stride = stride
        self.rows = rows
        self.width = width
        self.pixelStride = pixelStride
        self.depth = depth
    }

    /// The number of bytes of a row that hold samples; the rest up to `stride` is padding.
    public var rowBytes: Int {
        guard pixelStride > 0 else { return stride }
        let (bytes, overflow) = width.multipliedReportingOverflow(by: pixelStride)
        return overflow ? stride : min(stride, bytes)
    }

    /// Returns the byte range of row `y` in a plane's memory of `count` bytes that begins with the
    /// first row. Traps if there is no such row, also in release builds.
    func bytes(of y: Int, in count: Int) -> Range<Int> {
        precondition(y >= 0 && y < rows, "row \(y) of \(rows)")
        let (start, isTooFar) = y.multipliedReportingOverflow(by: stride)
        let length = rowBytes
        precondition(
            !isTooFar && start >= 0 && length >= 0 && start <= count && length <= count - start,
            "row \(y) of \(stride) bytes ends beyond the plane's \(count) bytes")
        return start..<start + length
    }

    /// Throws if `planes` do not cover the picture that `needed` describes: a different number of
    /// planes, fewer rows or samples, or a different sample stride. Code that knows only the format
    /// would then read beyond the planes.
    package static func check(
        _ planes: [VideoPlaneLayout], against needed: [VideoPlaneLayout], of format: VideoFormat
    ) throws(FrameError) {
        guard planes.count == needed.count else {
            throw FrameError(
                .badLayout,
                "\(planes.count) planes, but \(format) has \(needed.count)")
        }
        for (index, (plane, needed)) in zip(planes, needed).enumerated() {
            guard plane.rows >= needed.rows, plane.width >= needed.width,
                plane.pixelStride == needed.pixelStride,
                needed.pixelStride > 0 || plane.stride >= needed.stride
            else {
                throw FrameError(
                    .badLayout,
                    "plane \(index): \(plane.rows) rows of \(plane.width) samples of "
                        + "\(plane.pixelStride) bytes, but \(format) needs \(needed.rows) of "
                        + "\(needed.width) of \(needed.pixelStride)")
            }
        }
    }
}
