internal import CMediaBridge

extension Pad {
    /// Passes allocation queries on this sink pad to what follows `source`, a source pad of another
    /// pipeline. Where nothing there answers, this pad's element does. The probe lives as long as
    /// the pad, and retains `source`.
    func forwardAllocationQueries(to source: Pad) {
        _ = mb_pad_add_probe(
            pointer,
            GstPadProbeType(
                rawValue: GST_PAD_PROBE_TYPE_PUSH.rawValue
                    | GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM.rawValue),
            { _, info, context in
                guard let info, let context, let query = gst_pad_probe_info_get_query(info),
                    query.pointee.type == GST_QUERY_ALLOCATION
                else { return GST_PAD_PROBE_OK }
                let isAnswered = Unmanaged<Pad>.fromOpaque(context)._withUnsafeGuaranteedRef {
                    gst_pad_peer_query($0.pointer, query) != 0
                }
                return isAnswered ? GST_PAD_PROBE_HANDLED : GST_PAD_PROBE_OK
            }, Unmanaged.passRetained(source).toOpaque(),
            { if let context = $0 { Unmanaged<Pad>.fromOpaque(context).release() } })
    }
}
