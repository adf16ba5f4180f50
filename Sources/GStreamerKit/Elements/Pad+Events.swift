internal import CMediaBridge

extension Pad {
    /// Calls `body` with every event that passes downstream, on the streaming thread: it must return at once,
    /// and the event is valid until then. The probe, and what `body` holds, stays as long as the pad.
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

    /// Lives in memory of its own, from registration to the destroy-notify.
    private struct Probe: ~Copyable {
        let body: (UnsafeMutablePointer<GstEvent>) -> Void
    }
}
