internal import CMediaBridge

extension Pad {
    /// Links this source pad to a sink pad.
    ///
    /// - Returns: False if they have no format in common, or if one of them is linked already.
    package func link(to sink: Pad) -> Bool {
        gst_pad_link(pointer, sink.pointer) == GST_PAD_LINK_OK
    }

    /// The kind of media in the RTP packets that pass, `audio` or `video`; `nil` if they are none.
    package var packetMedia: String? {
        let caps = self.caps ?? gst_pad_query_caps(pointer, nil).map { Caps(adopting: $0) }
        return caps?.text(of: "media")
    }

    /// The number of the source (SSRC) of the RTP packets that pass; `nil` if it is not known.
    package var packetSource: UInt32? { caps?.unsigned(of: "ssrc") }

    /// Calls `body` when an element downstream asks for a key frame, on the thread of that element: it
    /// must return at once. The request goes on upstream.
    package func onKeyFrameRequest(_ body: @escaping @Sendable () -> Void) {
        _ = mb_pad_add_probe(
            pointer, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM,
            { _, info, context in
                guard let info, let event = gst_pad_probe_info_get_event(info),
                    gst_video_event_is_force_key_unit(event) != 0
                else { return GST_PAD_PROBE_OK }
                SignalListener<Void>.call(context, ())
                return GST_PAD_PROBE_OK
            }, SignalListener<Void>.context(body),
            { if let context = $0 { Unmanaged<AnyObject>.fromOpaque(context).release() } })
    }
}
