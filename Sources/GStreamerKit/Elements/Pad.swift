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
        guard mb_has_property(pointer, property) != 0 else { return }
        gst_util_set_object_arg(
            UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: GObject.self), property, value)
    }

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
    package var hasEnded: Bool {
        guard let event = gst_pad_get_sticky_event(pointer, GST_EVENT_EOS, 0) else { return false }
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
    package var peerCaps: Caps? {
        guard isLinked else { return nil }
        return gst_pad_peer_query_caps(pointer, nil).map { Caps(adopting: $0) }
    }

    /// The buffers for which ``onBuffer(of:_:)`` calls its callback.
    package enum BufferKind: Sendable {
        case all
        /// All except headers without a timestamp, and corrections of written bytes: they hold no media.
        case media
        /// Media without a presentation time.
        case timelessMedia
    }

    /// Calls `body` for every buffer of this kind that passes, on the streaming thread: it must
    /// return at once. The probe, and everything that `body` captures, lives as long as the pad.
    package func onBuffer(of kind: BufferKind = .all, _ body: @escaping @Sendable () -> Void) {
        let mask = GST_PAD_PROBE_TYPE_BUFFER.rawValue | GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue
        let context = UnsafeMutablePointer<Probe>.allocate(capacity: 1)
        context.initialize(to: Probe(kind: kind, body: body))
        _ = mb_pad_add_probe(
            pointer, GstPadProbeType(rawValue: mask),
            { pad, info, context in
                guard let probe = context?.assumingMemoryBound(to: Probe.self), let info, let pad
                else { return GST_PAD_PROBE_OK }
                if info.pointee.type.rawValue & GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue != 0 {
                    let list = gst_pad_probe_info_get_buffer_list(info)
                    for place in 0..<(list.map { gst_buffer_list_length($0) } ?? 0) {
                        probe.pointee.met(gst_buffer_list_get(list, place), at: pad)
                    }
                } else {
                    probe.pointee.met(gst_pad_probe_info_get_buffer(info), at: pad)
                }
                return GST_PAD_PROBE_OK
            }, context,
            {
                let probe = $0?.assumingMemoryBound(to: Probe.self)
                probe?.deinitialize(count: 1)
                probe?.deallocate()
            })
    }

    /// Heap-allocated from registration until the destroy-notify. Not copyable, so that a call
    /// borrows it in place and does no reference counting.
    private struct Probe: ~Copyable {
        let kind: BufferKind
        let body: @Sendable () -> Void

        borrowing func met(
            _ buffer: UnsafeMutablePointer<GstBuffer>?, at pad: UnsafeMutablePointer<GstPad>
        ) {
            switch kind {
            case .all: break
            case .media: if let buffer, !buffer.isMedia(at: pad) { return }
            case .timelessMedia:
                guard let buffer, buffer.pointee.pts == .max, buffer.isMedia(at: pad) else {
                    return
                }
            }
            body()
        }
    }
}

extension UnsafeMutablePointer<GstBuffer> {
    /// Whether it holds no media but only data that a decoder needs first, and has no time. A key frame
    /// of an elementary stream may carry the flag as well, but has a decoding time.
    var isTimelessHeader: Bool {
        gst_buffer_has_flags(self, GST_BUFFER_FLAG_HEADER) != 0
            && pointee.pts == .max && pointee.dts == .max
    }

    /// Whether it holds media: it is not a header, and not a correction of bytes that were already
    /// written. flacenc sends corrections at its end if the element downstream can seek in bytes
    /// (matroskamux from 1.24 on).
    func isMedia(at pad: UnsafeMutablePointer<GstPad>) -> Bool {
        guard pointee.pts == .max, pointee.dts == .max else { return true }
        return !isTimelessHeader && pad.segmentFormat != GST_FORMAT_BYTES
    }
}

extension UnsafeMutablePointer<GstPad> {
    /// The format of the present segment; `nil` before the first one.
    fileprivate var segmentFormat: GstFormat? {
        guard let event = gst_pad_get_sticky_event(self, GST_EVENT_SEGMENT, 0) else { return nil }
        defer { gst_event_unref(event) }
        var segment: UnsafePointer<GstSegment>?
        gst_event_parse_segment(event, &segment)
        return segment?.pointee.format
    }
}

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
