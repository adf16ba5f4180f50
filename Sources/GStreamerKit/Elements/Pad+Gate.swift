internal import CMediaBridge

extension Pad {
    /// Blocks every buffer at this pad, and with it the streaming thread, until the gate is opened.
    /// A buffer that has already passed the pad is not affected.
    func block() -> PadGate { PadGate(self) }
}

/// A blocking probe on a pad.
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

    /// Removes the block.
    func open() { gst_pad_remove_probe(pad.pointer, probe) }
}
