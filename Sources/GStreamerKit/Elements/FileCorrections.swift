internal import CMediaBridge
internal import Synchronization

extension Pad {
    /// Passes only the first caps event, and segment events only until the first buffer, with their
    /// stop position removed; drops all later ones. The probe lives as long as the pad.
    ///
    /// For `qtdemux` 1.22, which starts a new segment for each fragment, and which sets the frame
    /// rate in the caps only with the second fragment.
    package func keepFirstFormat() { Self.keepFirstFormat(of: pointer) }

    /// Delays everything that passes this pad by an offset in running time, in nanoseconds. Call it
    /// before data flows.
    package func delay(by nanoseconds: Int64) { gst_pad_set_offset(pointer, gint64(nanoseconds)) }

    static func keepFirstFormat(of pad: UnsafeMutablePointer<GstPad>) {
        _ = mb_pad_add_probe(
            pad,
            GstPadProbeType(
                rawValue: GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM.rawValue
                    | GST_PAD_PROBE_TYPE_BUFFER.rawValue),
            { _, info, context in
                guard let info, let context else { return GST_PAD_PROBE_OK }
                guard info.pointee.type.rawValue & GST_PAD_PROBE_TYPE_BUFFER.rawValue == 0,
                    let event = gst_pad_probe_info_get_event(info)
                else {
                    Unmanaged<FirstFormat>.fromOpaque(context)._withUnsafeGuaranteedRef {
                        $0.hasBuffer.store(true, ordering: .relaxed)
                    }
                    return GST_PAD_PROBE_OK
                }
                return Unmanaged<FirstFormat>.fromOpaque(context)._withUnsafeGuaranteedRef {
                    $0.passes(event, info)
                } ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP
            }, Unmanaged.passRetained(FirstFormat()).toOpaque(),
            { if let context = $0 { Unmanaged<FirstFormat>.fromOpaque(context).release() } })
    }

    private final class FirstFormat: Sendable {
        private let hasCaps = Atomic<Bool>(false)
        /// A gap at the beginning has its own segment, in front of the first buffer.
        let hasBuffer = Atomic<Bool>(false)

        func passes(
            _ event: UnsafeMutablePointer<GstEvent>, _ info: UnsafeMutablePointer<GstPadProbeInfo>
        ) -> Bool {
            switch event.pointee.type {
            case GST_EVENT_CAPS: return !hasCaps.exchange(true, ordering: .relaxed)
            case GST_EVENT_SEGMENT:
                guard !hasBuffer.load(ordering: .relaxed) else { return false }
                var segment: UnsafePointer<GstSegment>?
                gst_event_parse_segment(event, &segment)
                guard var open = segment?.pointee else { return true }
                open.stop = .max
                // The pad takes over whichever event the probe's info holds after the last probe;
                // the replaced event has to be unreferenced here.
                info.pointee.data = UnsafeMutableRawPointer(gst_event_new_segment(&open))
                gst_event_unref(event)
                return true
            default: return true
            }
        }
    }
}
