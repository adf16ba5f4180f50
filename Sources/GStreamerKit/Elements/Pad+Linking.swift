internal import CMediaBridge

extension Pad {
    /// Links this source pad to a sink pad.
    ///
    /// - Returns: False if they have no format in common, or if one of them is linked already.
    package func link(to sink: Pad) -> Bool {
        gst_pad_link(pointer, sink.pointer) == GST_PAD_LINK_OK
    }

    /// Lets a stream that ends without a format leave the muxer that this sink pad belongs to. From 1.24 on
    /// matroskamux, an aggregator since then, waits for the format of every stream, of one that has ended too,
    /// and writes nothing. The last stream stays. Call it before data flows; does nothing for other muxers.
    ///
    /// Once the stream has left, data of it fails with GStreamer's error for an element that is not linked.
    package func leavesAtEndWithoutFormat() {
        guard let element, mb_is_a(element.pointer, g_type_from_name("GstAggregator")) != 0 else {
            return
        }
        _ = mb_pad_add_probe(
            pointer, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
            { pad, info, _ in
                guard let pad, let info, let event = gst_pad_probe_info_get_event(info),
                    event.pointee.type == GST_EVENT_EOS, gst_pad_has_current_caps(pad) == 0,
                    let peer = gst_pad_get_peer(pad), let muxer = gst_pad_get_parent_element(pad)
                else { return GST_PAD_PROBE_OK }
                defer {
                    gst_object_unref(peer)
                    gst_object_unref(muxer)
                }
                guard muxer.pointee.numsinkpads > 1 else { return GST_PAD_PROBE_OK }
                gst_pad_unlink(peer, pad)
                gst_element_release_request_pad(muxer, pad)
                return GST_PAD_PROBE_DROP
            }, nil, nil)
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
