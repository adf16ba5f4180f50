internal import CMediaBridge

extension Pad {
    /// Answers caps queries on this sink pad with `answer` instead of passing them to the element.
    /// `answer` runs on the thread of the querying element and must not block. Everything that it
    /// captures lives as long as the pad. Call it before data flows.
    ///
    /// - Parameter answer: Receives the filter caps of the query, in the order of preference of the
    ///   querying element; `nil` if there is no filter. If it returns `nil`, the element answers
    ///   the query.
    func answerCapsQueries(_ answer: @escaping @Sendable (Caps?) -> Caps?) {
        PadFunctions.of(self).answerQueries(of: GST_QUERY_CAPS) { query in
            var filter: UnsafeMutablePointer<GstCaps>?
            gst_query_parse_caps(query, &filter)
            guard let answer = answer(filter.map { Caps(retaining: $0) }) else { return false }
            gst_query_set_caps_result(query, answer.pointer)
            return true
        }
    }

    /// Forwards allocation queries on this sink pad to the elements after `source`, a source pad of
    /// another pipeline, if `gate` admits them and those elements accept the caps: frames that will
    /// be converted do not fit into the elements' memory, because some elements return the size for
    /// their own format. If no element there answers, this pad's element does. The pad retains
    /// `source` and `gate`. Call it before data flows.
    func forwardAllocationQueries(to source: Pad, through gate: QueryGate) {
        PadFunctions.of(self).answerQueries(of: GST_QUERY_ALLOCATION) { query in
            var caps: UnsafeMutablePointer<GstCaps>?
            gst_query_parse_allocation(query, &caps, nil)
            guard let caps else { return false }
            return gate.admitAllocationQuery {
                gst_pad_peer_query_accept_caps(source.pointer, caps) != 0
                    && gst_pad_peer_query(source.pointer, query) != 0
            }
        }
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

extension Pad {
    /// Calls `body` for every event on this sink pad, on the streaming thread. `body` must return at
    /// once; the event is valid only during the call. Everything that `body` captures lives as long
    /// as the pad. Call it before data flows.
    func onEvent(_ body: @escaping @Sendable (UnsafeMutablePointer<GstEvent>) -> Void) {
        PadFunctions.of(self).onEvent(body)
    }
}
