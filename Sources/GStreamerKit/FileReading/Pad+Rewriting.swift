internal import CMediaBridge

extension Pad {
    /// Lets `body` modify buffers, chosen by their size and their first eight bytes as a big-endian number.
    /// Runs on the streaming thread, before any downstream element gets the buffer: `body` must return at once.
    /// Stays installed for as long as the pad lives.
    ///
    /// - Parameter isMeant: Whether a buffer is to be modified; not called for those of fewer bytes.
    package func rewrite(
        _ isMeant: @escaping @Sendable (_ head: UInt64, _ size: Int) -> Bool,
        _ body: @escaping @Sendable (UnsafeMutableRawBufferPointer) -> Void
    ) {
        let context = UnsafeMutablePointer<Editor>.allocate(capacity: 1)
        context.initialize(to: Editor(isMeant: isMeant, body: body))
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
        let isMeant: @Sendable (UInt64, Int) -> Bool
        let body: @Sendable (UnsafeMutableRawBufferPointer) -> Void

        borrowing func wants(_ buffer: UnsafeMutablePointer<GstBuffer>) -> Bool {
            var head: UInt64 = 0
            guard gst_buffer_extract(buffer, 0, &head, 8) == 8 else { return false }
            return isMeant(UInt64(bigEndian: head), Int(gst_buffer_get_size(buffer)))
        }

        borrowing func edit(_ bytes: UnsafeMutableRawBufferPointer) { body(bytes) }
    }
}
