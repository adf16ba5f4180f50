internal import CMediaBridge

extension Buffer {
    /// Whether decoding it needs a buffer before it.
    public var isDelta: Bool { has(GST_BUFFER_FLAG_DELTA_UNIT) }

    /// Whether it holds no media but what a decoder needs to know first.
    public var isHeader: Bool { has(GST_BUFFER_FLAG_HEADER) }

    private func has(_ flag: GstBufferFlags) -> Bool {
        pointer.pointee.mini_object.flags & guint(flag.rawValue) != 0
    }
}
