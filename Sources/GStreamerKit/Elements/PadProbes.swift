internal import CMediaBridge

extension Pad {
    /// Calls `body` for every buffer that passes, except headers without a timestamp, with the
    /// buffer's running time in nanoseconds (`nil` if unknown) and its size in bytes. Runs on the
    /// streaming thread: `body` must return at once. The probe lives as long as the pad.
    func onRunningTime(_ body: @escaping @Sendable (Int64?, Int) -> Void) {
        _ = mb_pad_add_probe(
            pointer, GST_PAD_PROBE_TYPE_BUFFER,
            { pad, info, context in
                guard let pad, let info, let context,
                    let buffer = gst_pad_probe_info_get_buffer(info)
                else { return GST_PAD_PROBE_OK }
                if buffer.isTimelessHeader { return GST_PAD_PROBE_OK }
                Unmanaged<Listener>.fromOpaque(context)._withUnsafeGuaranteedRef {
                    $0.body(Pad.runningTime(of: buffer, at: pad), Int(gst_buffer_get_size(buffer)))
                }
                return GST_PAD_PROBE_OK
            }, Unmanaged.passRetained(Listener(body: body)).toOpaque(),
            { if let context = $0 { Unmanaged<Listener>.fromOpaque(context).release() } })
    }

    /// Drops all buffers of a running time from `end` on, until the limit is removed.
    func dropBuffers(from end: ClockTime) -> PadLimit {
        let probe = mb_pad_add_probe(
            pointer, GST_PAD_PROBE_TYPE_BUFFER,
            { pad, info, context in
                guard let pad, let info, let context,
                    let buffer = gst_pad_probe_info_get_buffer(info),
                    let time = Pad.runningTime(of: buffer, at: pad)
                else { return GST_PAD_PROBE_OK }
                let end = Unmanaged<Limit>.fromOpaque(context).takeUnretainedValue().end
                return time < end ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP
            }, Unmanaged.passRetained(Limit(end: Int64(clamping: end.nanoseconds))).toOpaque(),
            { if let context = $0 { Unmanaged<Limit>.fromOpaque(context).release() } })
        return PadLimit(pad: self, probe: probe)
    }

    private final class Limit: Sendable {
        let end: Int64
        init(end: Int64) { self.end = end }
    }

    private final class Listener: Sendable {
        let body: @Sendable (Int64?, Int) -> Void
        init(body: @escaping @Sendable (Int64?, Int) -> Void) { self.body = body }
    }

    /// Returns negative times too: audio may begin with samples that are to be clipped.
    private static func runningTime(
        of buffer: UnsafeMutablePointer<GstBuffer>, at pad: UnsafeMutablePointer<GstPad>
    ) -> Int64? {
        let time = buffer.pointee.pts
        guard time != .max, let event = gst_pad_get_sticky_event(pad, GST_EVENT_SEGMENT, 0) else {
            return nil
        }
        defer { gst_event_unref(event) }
        var segment: UnsafePointer<GstSegment>?
        gst_event_parse_segment(event, &segment)
        guard let segment, segment.pointee.format == GST_FORMAT_TIME else { return nil }
        var running: guint64 = 0
        let sign = gst_segment_to_running_time_full(segment, GST_FORMAT_TIME, time, &running)
        return sign == 0 ? nil : Int64(sign) * Int64(clamping: running)
    }
}

/// A running time from which on a pad drops its buffers.
package struct PadLimit: Sendable {
    fileprivate let pad: Pad
    fileprivate let probe: gulong

    package func remove() { gst_pad_remove_probe(pad.pointer, probe) }
}

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

extension Pad {
    /// Drops the buffers for which `admits` returns false; it gets whether one is a key frame, on the streaming
    /// thread: it must return at once.
    package func filterBuffers(_ admits: @escaping @Sendable (_ isKey: Bool) -> Bool) {
        filter { admits($0.isKey) }
    }

    /// Drops the buffers that do not pass, and a list of buffers of which one does not: each of a list is shown
    /// to `passes`. The probe lives as long as the pad.
    func filter(_ passes: @escaping @Sendable (UnsafeMutablePointer<GstBuffer>) -> Bool) {
        let mask = GST_PAD_PROBE_TYPE_BUFFER.rawValue | GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue
        _ = mb_pad_add_probe(
            pointer, GstPadProbeType(rawValue: mask),
            { _, info, context in
                guard let info, let context else { return GST_PAD_PROBE_OK }
                return Unmanaged<BufferFilter>.fromOpaque(context)._withUnsafeGuaranteedRef {
                    $0.admits(info) ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP
                }
            }, Unmanaged.passRetained(BufferFilter(passes)).toOpaque(),
            { if let context = $0 { Unmanaged<AnyObject>.fromOpaque(context).release() } })
    }

    private final class BufferFilter: Sendable {
        private let passes: @Sendable (UnsafeMutablePointer<GstBuffer>) -> Bool

        init(_ passes: @escaping @Sendable (UnsafeMutablePointer<GstBuffer>) -> Bool) {
            self.passes = passes
        }

        func admits(_ info: UnsafeMutablePointer<GstPadProbeInfo>) -> Bool {
            guard info.pointee.type.rawValue & GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue != 0 else {
                return gst_pad_probe_info_get_buffer(info).map(passes) ?? true
            }
            let list = gst_pad_probe_info_get_buffer_list(info)
            var isAdmitted = true
            for place in 0..<(list.map { gst_buffer_list_length($0) } ?? 0) {
                guard let buffer = gst_buffer_list_get(list, place) else { continue }
                if !passes(buffer) { isAdmitted = false }
            }
            return isAdmitted
        }
    }
}

extension UnsafeMutablePointer<GstBuffer> {
    var isKey: Bool { gst_buffer_has_flags(self, GST_BUFFER_FLAG_DELTA_UNIT) == 0 }
}
