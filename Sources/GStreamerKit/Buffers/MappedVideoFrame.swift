internal import CMediaBridge

/// A video buffer, mapped for the lifetime of this value, with the strides and offsets of its
/// GstVideoMeta or, without one, those of the default layout.
package struct MappedVideoFrame: ~Copyable {
    private var frame: GstVideoFrame
    /// Whether the buffer's only memory was mapped directly (``Buffer/isHeldBySample``).
    private let isSole: Bool
    /// The planes; their memory is valid while this value lives, and contains every row.
    package let planes: Planes

    /// The access that a mapping permits.
    package enum Access: Sendable {
        /// The pixels are only read.
        case read
        /// The pixels may be changed.
        case write
    }

    /// Maps a buffer; `nil` if it is too small for the format, not accessible by the CPU, or if
    /// write access is requested to a shared buffer. Caps and GstVideoMeta are not trusted: each row
    /// is checked to be within the memory.
    ///
    /// A buffer that is ``Buffer/isHeldBySample`` must have been found ``Buffer/isWritable`` before.
    package init?(_ buffer: borrowing Buffer, _ info: VideoInfo, _ access: Access) {
        guard access == .read || buffer.isHeldBySample || buffer.isWritable else { return nil }
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
        // Decoders may describe a larger picture; the caps have the visible size.
        (frame.info.width, frame.info.height) = (layout.width, layout.height)
        guard let planes = Self.planes(of: &frame, &layout) else {
            if isSole { mb_video_frame_unmap_sole(&frame) } else { gst_video_frame_unmap(&frame) }
            return nil
        }
        self.frame = frame
        self.isSole = isSole
        self.planes = planes
    }

    /// Returns `nil` if a row is outside of the memory.
    private static func planes(
        of frame: inout GstVideoFrame, _ layout: inout GstVideoInfo
    ) -> Planes? {
        var planes = Planes()
        for index in 0..<layout.finfo.pointee.n_planes {
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

    /// The planes of a frame, at most four. Stored inline, so that mapping a frame allocates
    /// nothing.
    package struct Planes: RandomAccessCollection {
        private var list = InlineArray<4, Plane>(repeating: Plane(MBPlane()))
        package private(set) var endIndex = 0

        package var startIndex: Int { 0 }
        package subscript(index: Int) -> Plane {
            precondition(index < endIndex, "plane \(index) of \(endIndex)")
            return list[index]
        }

        fileprivate mutating func append(_ plane: Plane) {
            list[endIndex] = plane
            endIndex += 1
        }
    }

    /// A plane in mapped memory.
    package struct Plane {
        /// The memory from the first row on, at most to the end of the mapping.
        package let memory: UnsafeMutableRawBufferPointer
        /// Bytes from one row to the next.
        package let stride: Int
        /// Number of rows.
        package let rows: Int
        /// Samples per row.
        package let width: Int
        /// Bytes from one sample to the next; zero if that is not a whole number.
        package let pixelStride: Int
        /// Significant bits of a sample.
        package let depth: Int

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
