internal import CMediaBridge

/// A video buffer mapped until this value ends, with the strides and offsets that its GstVideoMeta
/// gives (or, without one, those of the default layout).
public struct MappedVideoFrame: ~Copyable {
    private var frame: GstVideoFrame
    /// Whether the buffer's memory was mapped itself (``Buffer/isHeldBySample``).
    private let isSole: Bool

    /// What the mapping is for.
    public enum Access: Sendable { case read, write }

    /// `nil` where the memory cannot be mapped so: too small for the format, not reachable by the CPU,
    /// or shared and to be written.
    public init?(_ buffer: borrowing Buffer, _ info: VideoInfo, _ access: Access) {
        guard access == .read || buffer.isWritable else { return nil }
        var frame = GstVideoFrame()
        var layout = info.info
        let isSole = access == .write && buffer.isHeldBySample
        let isMapped: gboolean
        if isSole {
            guard buffer.isWritable else { return nil }
            isMapped = mb_video_frame_map_sole(&frame, &layout, buffer.pointer)
        } else {
            let flags =
                access == .read
                ? GST_MAP_READ.rawValue : GST_MAP_READ.rawValue | GST_MAP_WRITE.rawValue
            isMapped = gst_video_frame_map(
                &frame, &layout, buffer.pointer, GstMapFlags(rawValue: flags))
        }
        guard isMapped != 0 else { return nil }
        self.frame = frame
        self.isSole = isSole
    }

    deinit {
        var frame = self.frame
        if isSole { mb_video_frame_unmap_sole(&frame) } else { gst_video_frame_unmap(&frame) }
    }

    /// A plane in the mapping.
    public struct Plane {
        /// From the first row on, as far as the mapping reaches.
        public let memory: UnsafeMutableRawBufferPointer
        /// Bytes from row to row.
        public let stride: Int
        public let rows: Int
        /// Samples in a row.
        public let width: Int
        /// Bytes from sample to sample; zero where they are not whole.
        public let pixelStride: Int
        /// Significant bits of a sample.
        public let depth: Int
    }

    /// The planes; their memory is valid while this value lives.
    public var planes: [Plane] {
        var frame = self.frame
        return (0..<frame.info.finfo.pointee.n_planes).map { index in
            let plane = mb_video_frame_plane(&frame, index)
            let (stride, rows) = (Int(plane.stride), Int(plane.rows))
            return Plane(
                memory: UnsafeMutableRawBufferPointer(
                    start: plane.bytes, count: min(Int(plane.available), max(0, stride) * rows)),
                stride: stride, rows: rows, width: Int(plane.width),
                pixelStride: Int(plane.pixel_stride), depth: Int(plane.depth))
        }
    }
}
