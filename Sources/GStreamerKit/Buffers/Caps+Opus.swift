internal import CMediaBridge

extension Caps {
    /// Returns caps with a pre-skip of zero, so that a decoder discards no samples: for a file that
    /// begins in the middle of the stream. `nil` for caps without an Opus header.
    ///
    /// Source: RFC 7845, section 5.1.
    package func withoutOpusPreSkip() -> Caps? {
        guard mediaType == "audio/x-opus", var headers, let copy = gst_caps_copy(pointer),
            let structure = gst_caps_get_structure(copy, 0)
        else { return nil }
        headers[0][Self.preSkip] = 0
        headers[0][Self.preSkip + 1] = 0
        var array = GValue()
        gst_value_array_init(&array, guint(headers.count))
        defer { g_value_unset(&array) }
        for header in headers {
            guard let buffer = Buffer.copying(header) else { continue }
            var value = GValue()
            g_value_init(&value, gst_buffer_get_type())
            g_value_take_boxed(&value, buffer.release())
            gst_value_array_append_value(&array, &value)
            g_value_unset(&value)
        }
        gst_structure_set_value(structure, "streamheader", &array)
        return Caps(adopting: copy)
    }

    /// Byte offset of the pre-skip field in the header.
    private static let preSkip = 10

    /// The buffers of the `streamheader` field, which a decoder needs first.
    private var headers: [[UInt8]]? {
        guard gst_caps_get_size(pointer) > 0, let structure = gst_caps_get_structure(pointer, 0),
            let value = gst_structure_get_value(structure, "streamheader"),
            mb_is_value_array(value) != 0
        else { return nil }
        let headers = (0..<gst_value_array_get_size(value)).compactMap { index -> [UInt8]? in
            guard
                let boxed = gst_value_array_get_value(value, index).flatMap({
                    g_value_get_boxed($0)
                })
            else { return nil }
            return Self.bytes(of: boxed.assumingMemoryBound(to: GstBuffer.self))
        }
        guard let first = headers.first, first.count >= 19 else { return nil }
        return headers
    }
}
