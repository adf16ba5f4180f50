internal import CMediaBridge

extension Pad {
    /// Holds back every buffer in front of the pad, and with it its streaming thread, until the gate is
    /// opened. One that has passed goes on.
    func block() -> PadGate { PadGate(self) }
}

/// A pad that lets no buffer through.
struct PadGate: Sendable {
    private let pad: Pad
    private let probe: gulong

    fileprivate init(_ pad: Pad) {
        self.pad = pad
        let mask =
            GST_PAD_PROBE_TYPE_BLOCK.rawValue | GST_PAD_PROBE_TYPE_BUFFER.rawValue
            | GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue
        probe = mb_pad_add_probe(
            pad.pointer, GstPadProbeType(rawValue: mask), { _, _, _ in GST_PAD_PROBE_OK }, nil, nil)
    }

    /// Lets buffers through again.
    func open() { gst_pad_remove_probe(pad.pointer, probe) }
}
