internal import CMediaBridge

/// A pool of buffers for frames of one video format. The memory of a buffer whose last owner is gone
/// is used again, so that a frame costs no page faults. Thread: any.
package final class BufferPool: @unchecked Sendable {  // GstBufferPool locks
    private let pool: UnsafeMutablePointer<GstBufferPool>

    /// Creates a pool without a limit; `nil` if GStreamer accepts no buffers of this format.
    package init?(_ info: VideoInfo) {
        guard let pool = gst_video_buffer_pool_new() else { return nil }
        let config = gst_buffer_pool_get_config(pool)
        gst_buffer_pool_config_set_params(config, info.caps.pointer, guint(info.byteCount), 0, 0)
        guard gst_buffer_pool_set_config(pool, config) != 0,
            gst_buffer_pool_set_active(pool, 1) != 0
        else {
            gst_object_unref(pool)
            return nil
        }
        self.pool = pool
    }

    deinit {
        // Buffers that are still in use keep the pool.
        gst_buffer_pool_set_active(pool, 0)
        gst_object_unref(pool)
    }

    /// Returns a buffer with uninitialised memory in the default layout, and with the flags and
    /// times of `model`; `nil` if there is not enough memory.
    package func buffer(like model: borrowing Buffer) -> Buffer? {
        var taken: UnsafeMutablePointer<GstBuffer>?
        guard gst_buffer_pool_acquire_buffer(pool, &taken, nil) == GST_FLOW_OK, let taken else {
            return nil
        }
        let wanted = GST_BUFFER_COPY_FLAGS.rawValue | GST_BUFFER_COPY_TIMESTAMPS.rawValue
        gst_buffer_copy_into(
            taken, model.pointer, GstBufferCopyFlags(rawValue: wanted), 0, gsize.max)
        return Buffer(adopting: taken)
    }
}
