internal import CMediaBridge

extension Buffer {
    /// Whether decoding it requires an earlier buffer.
    package var isDelta: Bool { has(GST_BUFFER_FLAG_DELTA_UNIT) }

    /// Marks it as one that requires an earlier buffer. It must have only one owner.
    package mutating func markDelta() {
        pointer.pointee.mini_object.flags |= guint(GST_BUFFER_FLAG_DELTA_UNIT.rawValue)
    }

    /// Whether it holds no media but only data that a decoder needs first.
    package var isHeader: Bool { has(GST_BUFFER_FLAG_HEADER) }

    private func has(_ flag: GstBufferFlags) -> Bool {
        pointer.pointee.mini_object.flags & guint(flag.rawValue) != 0
    }
}
