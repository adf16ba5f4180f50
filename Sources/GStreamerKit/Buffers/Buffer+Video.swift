internal import CMediaBridge

extension Buffer {
    /// Adds a GstVideoMeta with the positions of the planes in this buffer, if they differ from the
    /// default layout.
    ///
    /// - Parameters:
    ///   - info: The format of the frame.
    ///   - offsets: Bytes from the buffer's start to each plane.
    ///   - strides: Bytes from one row to the next in each plane.
    package mutating func describeVideo(_ info: VideoInfo, offsets: [Int], strides: [Int]) {
        var offset = [gsize](repeating: 0, count: 4)
        var stride = [gint](repeating: 0, count: 4)
        for (i, value) in offsets.prefix(4).enumerated() { offset[i] = gsize(value) }
        for (i, value) in strides.prefix(4).enumerated() { stride[i] = gint(clamping: value) }
        gst_buffer_add_video_meta_full(
            pointer, GST_VIDEO_FRAME_FLAG_NONE, info.info.finfo.pointee.format,
            guint(info.width), guint(info.height), guint(offsets.count), &offset, &stride)
    }

    /// Whether elements attached anything to the buffer beside the positions of its planes: regions
    /// of interest, captions, a crop.
    package var hasAttachments: Bool { mb_buffer_has_attachments(pointer) != 0 }

    /// Returns whether every row of a frame of this format lies in the buffer's memory, regardless
    /// of caps and meta. Device memory is not checked.
    package borrowing func holds(_ info: VideoInfo) -> Bool {
        var layout = info.info
        return mb_video_fits(pointer, &layout) != 0
    }
}
