internal import CMediaBridge

extension Buffer {
    /// Whether decoding it requires an earlier buffer.
    package var isDelta: Bool { has(GST_BUFFER_FLAG_DELTA_UNIT) }

    /// Whether it holds no media but only data that a decoder needs first.
    package var isHeader: Bool { has(GST_BUFFER_FLAG_HEADER) }

    private func has(_ flag: GstBufferFlags) -> Bool {
        pointer.pointee.mini_object.flags & guint(flag.rawValue) != 0
    }
}
