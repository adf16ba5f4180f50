internal import CMediaBridge

extension Pad {
    /// Lets `body` modify buffers that consist of one ISO base media file box of a type in `tags`:
    /// four bytes of size, then the four letters of the type. Runs on the streaming thread, before
    /// any downstream element gets the buffer: `body` must return at once. Stays installed for as
    /// long as the pad lives.
    package func onBox(
        _ tags: Set<String>, edit body: @escaping @Sendable (UnsafeMutableRawBufferPointer) -> Void
    ) {
        let context = UnsafeMutablePointer<Editor>.allocate(capacity: 1)
        context.initialize(to: Editor(tags: tags, body: body))
        _ = mb_pad_add_probe(
            pointer, GST_PAD_PROBE_TYPE_BUFFER,
            { _, info, context in
                guard let editor = context?.assumingMemoryBound(to: Editor.self), let info,
                    let buffer = gst_pad_probe_info_get_buffer(info),
                    editor.pointee.wants(buffer)
                else { return GST_PAD_PROBE_OK }
                guard let own = mb_pad_probe_own_buffer(info) else { return GST_PAD_PROBE_OK }
                var map = GstMapInfo()
                guard gst_buffer_map(own, &map, GST_MAP_WRITE) != 0 else { return GST_PAD_PROBE_OK }
                editor.pointee.edit(
                    UnsafeMutableRawBufferPointer(start: map.data, count: Int(map.size)))
                gst_buffer_unmap(own, &map)
                return GST_PAD_PROBE_OK
            }, context,
            {
                let editor = $0?.assumingMemoryBound(to: Editor.self)
                editor?.deinitialize(count: 1)
                editor?.deallocate()
            })
    }

    /// Heap-allocated from registration until the destroy-notify.
    private struct Editor: ~Copyable {
        let tags: Set<String>
        let body: @Sendable (UnsafeMutableRawBufferPointer) -> Void

        borrowing func wants(_ buffer: UnsafeMutablePointer<GstBuffer>) -> Bool {
            let size = gst_buffer_get_size(buffer)
            guard size >= 8 else { return false }
            var head: (UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8) = (
                0, 0, 0, 0, 0, 0, 0, 0
            )
            return withUnsafeMutableBytes(of: &head) { bytes in
                guard gst_buffer_extract(buffer, 0, bytes.baseAddress, 8) == 8 else { return false }
                let length = bytes[..<4].reduce(0) { $0 << 8 | UInt($1) }
                // Media data that happens to begin with a tag will hardly have the length that it
                // then states.
                return length == UInt(size)
                    && tags.contains(String(decoding: bytes[4...], as: UTF8.self))
            }
        }

        borrowing func edit(_ bytes: UnsafeMutableRawBufferPointer) { body(bytes) }
    }
}
