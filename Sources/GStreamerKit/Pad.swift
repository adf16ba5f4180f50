internal import CMediaBridge

/// A pad of an element, held.
///
/// Sendable: GstPad is thread-safe, and the pointer never changes. Thread: any.
public final class Pad: @unchecked Sendable {
    let pointer: UnsafeMutablePointer<GstPad>

    init(adopting pointer: UnsafeMutablePointer<GstPad>) { self.pointer = pointer }

    deinit { gst_object_unref(pointer) }

    public var isLinked: Bool { gst_pad_is_linked(pointer) != 0 }

    /// The pad it is linked to.
    public var peer: Pad? { gst_pad_get_peer(pointer).map { Pad(adopting: $0) } }

    /// The element it belongs to. A ghost pad's is its bin.
    public var element: Element? {
        gst_pad_get_parent_element(pointer).map { Element(adopting: $0) }
    }

    /// The caps that were negotiated on it; `nil` before that.
    public var caps: Caps? { gst_pad_get_current_caps(pointer).map { Caps(adopting: $0) } }

    /// What the peer could take or give; `nil` without a peer.
    public var peerCaps: Caps? {
        guard isLinked else { return nil }
        return gst_pad_peer_query_caps(pointer, nil).map { Caps(adopting: $0) }
    }

    /// Calls `body` for every buffer that passes, on the streaming thread: it must return at once.
    /// The probe, and what `body` holds, stays as long as the pad.
    public func onBuffer(_ body: @escaping @Sendable () -> Void) {
        final class Probe: Sendable {
            let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }
        let mask = GST_PAD_PROBE_TYPE_BUFFER.rawValue | GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue
        let context = Unmanaged.passRetained(Probe(body)).toOpaque()
        _ = mb_pad_add_probe(
            pointer, GstPadProbeType(rawValue: mask),
            { _, info, context in
                guard let context, let info else { return GST_PAD_PROBE_OK }
                let probe = Unmanaged<Probe>.fromOpaque(context).takeUnretainedValue()
                if info.pointee.type.rawValue & GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue != 0 {
                    let list = gst_pad_probe_info_get_buffer_list(info)
                    for _ in 0..<(list.map { gst_buffer_list_length($0) } ?? 0) { probe.body() }
                } else {
                    probe.body()
                }
                return GST_PAD_PROBE_OK
            }, context, { if let context = $0 { Unmanaged<Probe>.fromOpaque(context).release() } })
    }
}
