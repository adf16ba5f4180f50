internal import CMediaBridge
internal import GStreamerKit
internal import MediaCore
internal import MediaFrames

/// The times, flags and metas of a buffer, for the buffer that takes its place.
struct BufferMarks: ~Copyable {
    private let pts, dts, duration: GstClockTime
    private let offset, offsetEnd: guint64
    private let flags: guint
    /// An empty buffer with the metas that do not describe the memory; `nil` if there are none.
    private let metas: UnsafeMutablePointer<GstBuffer>?

    init(of buffer: borrowing Buffer) {
        let original = buffer.pointer
        pts = original.pointee.pts
        dts = original.pointee.dts
        duration = original.pointee.duration
        offset = original.pointee.offset
        offsetEnd = original.pointee.offset_end
        flags = original.pointee.mini_object.flags
        guard Self.hasOtherMetas(original), let copy = gst_buffer_new() else {
            metas = nil
            return
        }
        gst_buffer_copy_into(copy, original, GST_BUFFER_COPY_META, 0, gsize.max)
        if let video = gst_buffer_get_meta(copy, gst_video_meta_api_get_type()) {
            gst_buffer_remove_meta(copy, video)
        }
        if let audio = gst_buffer_get_meta(copy, gst_audio_meta_api_get_type()) {
            gst_buffer_remove_meta(copy, audio)
        }
        metas = copy
    }

    /// Whether a buffer has metas that do not describe its memory. Most have none, and a copy takes time.
    private static func hasOtherMetas(_ buffer: UnsafeMutablePointer<GstBuffer>) -> Bool {
        var state: gpointer?
        while let meta = gst_buffer_iterate_meta(buffer, &state) {
            let api = meta.pointee.info.pointee.api
            if api != gst_video_meta_api_get_type(), api != gst_audio_meta_api_get_type() {
                return true
            }
        }
        return false
    }

    deinit { if let metas { mb_buffer_unref(metas) } }

    /// The time of the buffer in a segment; `nil` if it has none.
    func runningTime(in segment: UnsafePointer<GstSegment>) -> MediaTime? {
        guard pts != GstClockTime.max else { return nil }
        let time = gst_segment_to_running_time(segment, GST_FORMAT_TIME, pts)
        return time == guint64.max ? nil : MediaTime(nanoseconds: Int64(clamping: time))
    }

    /// Marks a buffer that takes the place of this one. The same buffer, and a copy of it, have its marks already; an
    /// earlier buffer that a class has kept has all but the time.
    ///
    /// - Parameters:
    ///   - keepsMetas: Whether the new buffer has the same format, so that positions in it are valid.
    ///   - shift: How much later it is due.
    func mark(
        _ buffer: borrowing Buffer, keepingMetas keepsMetas: Bool, shift: MediaTime
    ) -> Buffer {
        guard pts != GstClockTime.max else { return buffer.retained() }
        let isNew = buffer.pointer.pointee.pts == GstClockTime.max
        let due = GstClockTime(clamping: Int64(clamping: pts) + shift.nanoseconds)
        guard buffer.pointer.pointee.pts != due else { return buffer.retained() }
        let marked = buffer.retained().withOwnHeader()
        let pointer = marked.pointer
        if isNew {
            pointer.pointee.dts = dts
            if pointer.pointee.duration == GstClockTime.max { pointer.pointee.duration = duration }
            (pointer.pointee.offset, pointer.pointee.offset_end) = (offset, offsetEnd)
            if keepsMetas, let metas {
                gst_buffer_copy_into(pointer, metas, GST_BUFFER_COPY_META, 0, gsize.max)
            }
            pointer.pointee.mini_object.flags |= flags & Self.mediaFlags
        }
        pointer.pointee.pts = due
        return marked
    }

    /// What the media are: not whose the memory is.
    private static let mediaFlags =
        guint(
            GST_BUFFER_FLAG_DISCONT.rawValue | GST_BUFFER_FLAG_CORRUPTED.rawValue
                | GST_BUFFER_FLAG_MARKER.rawValue | GST_BUFFER_FLAG_DROPPABLE.rawValue)
        | ~guint(GST_BUFFER_FLAG_LAST.rawValue - 1)
}
