internal import CMediaBridge

/// A video buffer mapped until this value ends, with the strides and offsets that its GstVideoMeta
/// gives (or, without one, those of the default layout).
public struct MappedVideoFrame: ~Copyable {
    private var frame: GstVideoFrame
    /// Whether the buffer's memory was mapped itself (``Buffer/isHeldBySample``).
    private let isSole: Bool
    /// The planes; their memory is valid while this value lives, and holds every row.
    public let planes: [Plane]

    /// What the mapping is for.
    public enum Access: Sendable { case read, write }

    /// `nil` where the memory cannot be mapped so: too small for the format, not reachable by the CPU,
    /// or shared and to be written. Neither caps nor what the buffer says of its planes is believed:
    /// each row is looked for in the memory.
    public init?(_ buffer: borrowing Buffer, _ info: VideoInfo, _ access: Access) {
        guard access == .read || buffer.isWritable else { return nil }
        var frame = GstVideoFrame()
        var layout = info.info
        guard mb_video_meta_fits(buffer.pointer, &layout) != 0 else { return nil }
        let isSole = access == .write && buffer.isHeldBySample
        let isMapped: gboolean
        if isSole {
            isMapped = mb_video_frame_map_sole(&frame, &layout, buffer.pointer)
        } else {
            let flags =
                access == .read
                ? GST_MAP_READ.rawValue : GST_MAP_READ.rawValue | GST_MAP_WRITE.rawValue
            isMapped = gst_video_frame_map(
                &frame, &layout, buffer.pointer, GstMapFlags(rawValue: flags))
        }
        guard isMapped != 0 else { return nil }
        // Of a larger picture, as decoders describe them, the caps say what is to be seen.
        (frame.info.width, frame.info.height) = (layout.width, layout.height)
        guard let planes = Self.planes(of: &frame, &layout) else {
            if isSole { mb_video_frame_unmap_sole(&frame) } else { gst_video_frame_unmap(&frame) }
            return nil
        }
        self.frame = frame
        self.isSole = isSole
        self.planes = planes
    }

    /// `nil` where a row is not in the memory.
    private static func planes(
        of frame: inout GstVideoFrame, _ layout: inout GstVideoInfo
    ) -> [Plane]? {
        var planes: [Plane] = []
        let count = layout.finfo.pointee.n_planes
        planes.reserveCapacity(Int(count))
        for index in 0..<count {
            var plane = mb_video_frame_plane(&frame, index)
            guard mb_video_plane_fits(&plane, &layout, index) != 0 else { return nil }
            planes.append(Plane(plane))
        }
        return planes
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

        fileprivate init(_ plane: MBPlane) {
            (stride, rows) = (Int(plane.stride), Int(plane.rows))
            // 2³¹ bytes times 2¹⁵ rows: no overflow.
            let count = min(Int(clamping: plane.available), stride * rows)
            memory = UnsafeMutableRawBufferPointer(start: plane.bytes, count: count)
            width = Int(plane.width)
            pixelStride = Int(plane.pixel_stride)
            depth = Int(plane.depth)
        }
    }
}
