internal import CMediaBridge

extension Pad {
    /// Calls `body` for every downstream event on this pad, on the streaming thread. `body` must
    /// return at once; the event is valid only during the call. The probe, and everything that
    /// `body` captures, lives as long as the pad.
    func onEvent(_ body: @escaping (UnsafeMutablePointer<GstEvent>) -> Void) {
        let context = UnsafeMutablePointer<Probe>.allocate(capacity: 1)
        context.initialize(to: Probe(body: body))
        _ = mb_pad_add_probe(
            pointer, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
            { _, info, context in
                if let probe = context?.assumingMemoryBound(to: Probe.self), let info,
                    let event = gst_pad_probe_info_get_event(info)
                {
                    probe.pointee.body(event)
                }
                return GST_PAD_PROBE_OK
            }, context,
            {
                let probe = $0?.assumingMemoryBound(to: Probe.self)
                probe?.deinitialize(count: 1)
                probe?.deallocate()
            })
    }

    /// Heap-allocated from registration until the destroy-notify.
    private struct Probe: ~Copyable {
        let body: (UnsafeMutablePointer<GstEvent>) -> Void
    }
}
