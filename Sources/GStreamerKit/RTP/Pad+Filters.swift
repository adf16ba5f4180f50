internal import CMediaBridge

extension Pad {
    /// Drops the buffers for which `admits` returns false; it gets whether one is a key frame, on the streaming
    /// thread: it must return at once.
    package func filterBuffers(_ admits: @escaping @Sendable (_ isKey: Bool) -> Bool) {
        filter { admits($0.isKey) }
    }

    /// Drops the buffers that do not pass, and a list of buffers of which one does not: each of a list is shown
    /// to `passes`. The probe lives as long as the pad.
    func filter(_ passes: @escaping @Sendable (UnsafeMutablePointer<GstBuffer>) -> Bool) {
        let mask = GST_PAD_PROBE_TYPE_BUFFER.rawValue | GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue
        _ = mb_pad_add_probe(
            pointer, GstPadProbeType(rawValue: mask),
            { _, info, context in
                guard let info, let context else { return GST_PAD_PROBE_OK }
                return Unmanaged<BufferFilter>.fromOpaque(context)._withUnsafeGuaranteedRef {
                    $0.admits(info) ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP
                }
            }, Unmanaged.passRetained(BufferFilter(passes)).toOpaque(),
            { if let context = $0 { Unmanaged<AnyObject>.fromOpaque(context).release() } })
    }

    private final class BufferFilter: Sendable {
        private let passes: @Sendable (UnsafeMutablePointer<GstBuffer>) -> Bool

        init(_ passes: @escaping @Sendable (UnsafeMutablePointer<GstBuffer>) -> Bool) {
            self.passes = passes
        }

        func admits(_ info: UnsafeMutablePointer<GstPadProbeInfo>) -> Bool {
            guard info.pointee.type.rawValue & GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue != 0 else {
                return gst_pad_probe_info_get_buffer(info).map(passes) ?? true
            }
            let list = gst_pad_probe_info_get_buffer_list(info)
            var isAdmitted = true
            for place in 0..<(list.map { gst_buffer_list_length($0) } ?? 0) {
                guard let buffer = gst_buffer_list_get(list, place) else { continue }
                if !passes(buffer) { isAdmitted = false }
            }
            return isAdmitted
        }
    }
}

extension UnsafeMutablePointer<GstBuffer> {
    var isKey: Bool { gst_buffer_has_flags(self, GST_BUFFER_FLAG_DELTA_UNIT) == 0 }
}
