internal import CMediaBridge

/// A strong reference to a pad of an element.
///
/// Sendable: GstPad is thread-safe, and the pointer never changes. Thread: any.
package final class Pad: @unchecked Sendable {
    let pointer: UnsafeMutablePointer<GstPad>

    init(adopting pointer: UnsafeMutablePointer<GstPad>) { self.pointer = pointer }

    init(retaining pointer: UnsafeMutablePointer<GstPad>) {
        gst_object_ref(pointer)
        self.pointer = pointer
    }

    deinit { gst_object_unref(pointer) }

    /// Sets a property from text, as gst-launch does. Does nothing if the pad has no such property.
    package func set(_ property: String, _ value: String) {
        guard mb_property(pointer, property) != nil else { return }
        gst_util_set_object_arg(pointer.cast(), property, value)
    }

    /// The name within its element, for example `sink_0`.
    package var name: String { String(adopting: gst_object_get_name(pointer.cast())) ?? "" }

    /// Whether it has a peer.
    package var isLinked: Bool { gst_pad_is_linked(pointer) != 0 }

    /// The pad it is linked to; `nil` if it is not linked.
    package var peer: Pad? { gst_pad_get_peer(pointer).map { Pad(adopting: $0) } }

    /// The element it belongs to; for a ghost pad, its bin.
    package var element: Element? {
        gst_pad_get_parent_element(pointer).map { Element(adopting: $0) }
    }

    /// The caps that were negotiated on it; `nil` before negotiation.
    package var caps: Caps? { gst_pad_get_current_caps(pointer).map { Caps(adopting: $0) } }

    /// Whether an EOS event has passed this pad.
    package var hasEnded: Bool { hasPassed(GST_EVENT_EOS) }

    /// The negotiated caps or, before negotiation, the possible caps.
    var currentOrPossibleCaps: Caps? {
        caps ?? gst_pad_query_caps(pointer, nil).map { Caps(adopting: $0) }
    }

    /// Whether a thread is in the element of this sink pad, or behind it, with a buffer. Never blocks.
    var isStreaming: Bool { mb_pad_is_streaming(pointer) != 0 }

    /// Whether these are the only raw formats that the pad takes, in any memory.
    func asksOnly(for formats: Caps) -> Bool {
        guard let taken = gst_pad_query_caps(pointer, nil).map({ Caps(adopting: $0) }),
            let raw = try? Caps("video/x-raw(ANY)")
        else { return false }
        let requested = taken.intersection(raw)
        return !requested.isEmpty && requested.hasOnly("format", of: formats)
    }

    /// Whether a sticky event of this type has passed this pad.
    func hasPassed(_ type: GstEventType) -> Bool {
        guard let event = gst_pad_get_sticky_event(pointer, type, 0) else { return false }
        gst_event_unref(event)
        return true
    }

    /// Queries the position of the pad's stream; `nil` if the element does not answer.
    package func queryPosition() -> ClockTime? {
        var position: gint64 = 0
        guard gst_pad_query_position(pointer, GST_FORMAT_TIME, &position) != 0, position >= 0 else {
            return nil
        }
        return ClockTime(nanoseconds: UInt64(position))
    }

    /// The caps that the peer could accept or produce; `nil` without a peer.
    package var peerCaps: Caps? { peerCaps(of: nil) }

    /// Returns the formats of `caps` that the peer accepts, in the order in which the peer lists
    /// them; `nil` without a peer.
    func peerCaps(of caps: Caps?) -> Caps? {
        guard isLinked else { return nil }
        return gst_pad_peer_query_caps(pointer, caps?.pointer).map { Caps(adopting: $0) }
    }

    /// Queries whether the element of the pad, or of its peer, is live, and its minimum latency; `nil`
    /// if it does not answer.
    func latency(ofPeer: Bool = false) -> (isLive: Bool, latency: ClockTime)? {
        guard let query = gst_query_new_latency() else { return nil }
        defer { gst_query_unref(query) }
        let isAnswered =
            ofPeer ? gst_pad_peer_query(pointer, query) : gst_pad_query(pointer, query)
        guard isAnswered != 0 else { return nil }
        var live: gboolean = 0
        var minimum: GstClockTime = 0
        gst_query_parse_latency(query, &live, &minimum, nil)
        return (live != 0, ClockTime(minimum) ?? ClockTime(nanoseconds: 0))
    }

    /// Links this source pad to a sink pad.
    ///
    /// - Returns: False if they have no format in common, or if one of them is linked already.
    package func link(to sink: Pad) -> Bool {
        gst_pad_link(pointer, sink.pointer) == GST_PAD_LINK_OK
    }

    /// Delays everything that passes this pad by an offset in running time, in nanoseconds. Call it
    /// before data flows.
    package func delay(by nanoseconds: Int64) { gst_pad_set_offset(pointer, gint64(nanoseconds)) }
}
