internal import CMediaBridge

extension Pad {
    /// Replaces bytes of the file in the buffers that are pulled from this pad, which must be a
    /// file source's. The file itself is not changed. The probe lives as long as the pad.
    ///
    /// - Parameter patches: The replacement bytes, by offset in the file.
    package func overwrite(_ patches: [Int: [UInt8]]) {
        guard !patches.isEmpty else { return }
        _ = mb_pad_add_probe(
            pointer,
            GstPadProbeType(
                rawValue: GST_PAD_PROBE_TYPE_PULL.rawValue | GST_PAD_PROBE_TYPE_BUFFER.rawValue),
            { _, info, context in
                guard let info, let context, let buffer = gst_pad_probe_info_get_buffer(info) else {
                    return GST_PAD_PROBE_OK
                }
                Unmanaged<Patches>.fromOpaque(context)._withUnsafeGuaranteedRef {
                    $0.apply(to: buffer)
                }
                return GST_PAD_PROBE_OK
            }, Unmanaged.passRetained(Patches(patches)).toOpaque(),
            { if let context = $0 { Unmanaged<Patches>.fromOpaque(context).release() } })
    }

    private final class Patches: Sendable {
        private let patches: [Int: [UInt8]]

        init(_ patches: [Int: [UInt8]]) { self.patches = patches }

        /// Writes in place: a buffer that a file source has just read has no other owner.
        func apply(to buffer: UnsafeMutablePointer<GstBuffer>) {
            guard buffer.pointee.offset != .max else { return }
            let start = Int(clamping: buffer.pointee.offset)
            let end = start + Int(gst_buffer_get_size(buffer))
            for (place, bytes) in patches {
                for (index, byte) in bytes.enumerated() where (start..<end).contains(place + index)
                {
                    _ = withUnsafePointer(to: byte) {
                        gst_buffer_fill(buffer, gsize(place + index - start), $0, 1)
                    }
                }
            }
        }
    }
}
