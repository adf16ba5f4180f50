/// Where one plane of a picture lies in memory.
public struct VideoPlaneLayout: Hashable, Sendable {
    /// Bytes from the start of the memory to the plane's first row.
    public var offset: Int
    /// Bytes from one row to the next; at least the bytes of a row, often more.
    public var stride: Int
    /// Rows.
    public var rows: Int
    /// Samples in a row: half the picture's width for the chroma of 4:2:0, rounded up.
    public var width: Int
    /// Bytes from one sample to the next. Zero where samples are not whole bytes apart (packed 10 bit).
    public var pixelStride: Int
    /// Significant bits in a sample: 8, 10, 12, 16.
    public var depth: Int

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

    /// Bytes of a row that hold samples; the rest up to `stride` is padding.
    public var rowBytes: Int {
        guard pixelStride > 0 else { return stride }
        let (bytes, overflow) = width.multipliedReportingOverflow(by: pixelStride)
        return overflow ? stride : min(stride, bytes)
    }
}
