internal import CMediaBridge

extension Pad {
    /// Answers downstream caps queries on this pad with `answer` instead of passing them to the
    /// element. `answer` runs on the thread of the querying element and must not block. The probe,
    /// and everything that `answer` captures, lives as long as the pad.
    ///
    /// - Parameter answer: Receives the filter caps of the query, in the order of preference of the
    ///   querying element; `nil` if there is no filter. If it returns `nil`, the element answers
    ///   the query.
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

    /// Returns the formats of `caps` that the peer accepts, in the order in which the peer lists
    /// them; `nil` without a peer.
    func peerCaps(of caps: Caps?) -> Caps? {
        guard isLinked else { return nil }
        return gst_pad_peer_query_caps(pointer, caps?.pointer).map { Caps(adopting: $0) }
    }

    /// Whether the element reports in a latency query that it is live; `nil` if it does not answer.
    var isLive: Bool? {
        guard let query = gst_query_new_latency() else { return nil }
        defer { gst_query_unref(query) }
        guard gst_pad_query(pointer, query) != 0 else { return nil }
        var live: gboolean = 0
        gst_query_parse_latency(query, &live, nil, nil)
        return live != 0
    }
}
