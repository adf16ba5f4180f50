internal import CMediaBridge

/// The bytes of a buffer, mapped for reading for the lifetime of this value.
package struct MappedBuffer: ~Copyable {
    private var map: GstMapInfo
    private let buffer: Buffer

    /// Maps a buffer; `nil` if the CPU cannot access its memory.
    package init?(_ buffer: borrowing Buffer) {
        var map = GstMapInfo()
        guard gst_buffer_map(buffer.pointer, &map, GST_MAP_READ) != 0 else { return nil }
        self.map = map
        self.buffer = buffer.retained()
    }

    deinit {
        var map = self.map
        gst_buffer_unmap(buffer.pointer, &map)
    }

    /// The bytes; the span must not outlive this value.
    package var bytes: RawSpan {
        @_lifetime(borrow self)
        get {
            let bytes = UnsafeRawBufferPointer(start: map.data, count: Int(map.size)).bytes
            return unsafe _overrideLifetime(bytes, borrowing: self)
        }
    }
}
