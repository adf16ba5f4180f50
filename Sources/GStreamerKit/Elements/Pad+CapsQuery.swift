internal import CMediaBridge

extension Pad {
    /// Has `answer` say what passes this pad, instead of its element. On the thread of whoever asks: it must
    /// not wait. The probe, and what `answer` holds, stays as long as the pad.
    ///
    /// - Parameter answer: Given what the asker can give, in the order of its preference; `nil` for
    ///   anything. Where it returns `nil` the element answers.
    func answerCapsQueries(_ answer: @escaping @Sendable (Caps?) -> Caps?) {
        _ = mb_pad_add_probe(
            pointer,
            GstPadProbeType(
                rawValue: GST_PAD_PROBE_TYPE_PUSH.rawValue
                    | GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM.rawValue),
            { _, info, context in
                guard let info, let context, let query = gst_pad_probe_info_get_query(info),
                    query.pointee.type == GST_QUERY_CAPS
                else { return GST_PAD_PROBE_OK }
                var filter: UnsafeMutablePointer<GstCaps>?
                gst_query_parse_caps(query, &filter)
                let asked = filter.map { Caps(retaining: $0) }
                let answer = Unmanaged<CapsAnswer>.fromOpaque(context)._withUnsafeGuaranteedRef {
                    $0.body(asked)
                }
                guard let answer else { return GST_PAD_PROBE_OK }
                gst_query_set_caps_result(query, answer.pointer)
                return GST_PAD_PROBE_HANDLED
            }, Unmanaged.passRetained(CapsAnswer(answer)).toOpaque(),
            { if let context = $0 { Unmanaged<CapsAnswer>.fromOpaque(context).release() } })
    }

    private final class CapsAnswer: Sendable {
        let body: @Sendable (Caps?) -> Caps?
        init(_ body: @escaping @Sendable (Caps?) -> Caps?) { self.body = body }
    }

    /// What the peer takes of `caps`, in the order that it gives them; `nil` without a peer.
    func peerCaps(of caps: Caps?) -> Caps? {
        guard isLinked else { return nil }
        return gst_pad_peer_query_caps(pointer, caps?.pointer).map { Caps(adopting: $0) }
    }

    /// Whether its element says that it makes data by the clock; `nil` where that does not say.
    var isLive: Bool? {
        guard let query = gst_query_new_latency() else { return nil }
        defer { gst_query_unref(query) }
        guard gst_pad_query(pointer, query) != 0 else { return nil }
        var live: gboolean = 0
        gst_query_parse_latency(query, &live, nil, nil)
        return live != 0
    }
}
