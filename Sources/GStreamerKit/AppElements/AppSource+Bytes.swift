internal import CMediaBridge

// Streams without caps, such as those of a filesrc or udpsrc. Demuxers and parsers accept them,
// because they detect the format from the bytes.
extension AppSource {
    /// Whether the elements downstream accept bytes without caps. Elements that take raw video or
    /// audio do not, unless they accept exactly one format, which then describes the bytes, or
    /// parse raw media, as rawvideoparse does.
    package var takesBytes: Bool {
        guard let accepted = acceptedCaps else { return true }
        if accepted.isAny || accepted.isFixed || !accepted.isRaw { return true }
        return first { !$0.klass.hasPrefix("Generic") }?.klass.contains("Parser") ?? false
    }

    /// Sends the next segment in bytes instead of running time, as file sources do: demuxers expect
    /// no bytes in a segment in time. Call it before the first buffer.
    package func countBytes() {
        guard let pad = element.pad("src") else { return }
        _ = mb_pad_add_probe(
            pad.pointer, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
            { _, info, _ in
                guard let info, let event = gst_pad_probe_info_get_event(info),
                    event.pointee.type == GST_EVENT_SEGMENT
                else { return GST_PAD_PROBE_OK }
                var segment = GstSegment()
                gst_segment_init(&segment, GST_FORMAT_BYTES)
                guard let inBytes = gst_event_new_segment(&segment) else { return GST_PAD_PROBE_OK }
                gst_event_set_seqnum(inBytes, gst_event_get_seqnum(event))
                gst_event_unref(event)
                info.pointee.data = UnsafeMutableRawPointer(inBytes)
                return GST_PAD_PROBE_REMOVE
            }, nil, nil)
    }
}
