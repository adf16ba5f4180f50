internal import CMediaBridge
internal import Synchronization

extension Pad {
    /// Separates audio buffers with equal timestamps by the interval between the buffers before
    /// them. The probe lives as long as the pad.
    ///
    /// For fragmented files: `mp4mux` 1.22 does not know the duration of the last block of some
    /// fragments, and writes a duration of zero.
    package func keepApart() { Self.keepApart(pointer) }

    static func keepApart(_ pad: UnsafeMutablePointer<GstPad>) {
        _ = mb_pad_add_probe(
            pad, GST_PAD_PROBE_TYPE_BUFFER,
            { _, info, context in
                guard let info, let context, let buffer = gst_pad_probe_info_get_buffer(info) else {
                    return GST_PAD_PROBE_OK
                }
                Unmanaged<Distance>.fromOpaque(context)._withUnsafeGuaranteedRef {
                    info.pointee.data = UnsafeMutableRawPointer($0.apart(buffer))
                }
                return GST_PAD_PROBE_OK
            }, Unmanaged.passRetained(Distance()).toOpaque(),
            { if let context = $0 { Unmanaged<Distance>.fromOpaque(context).release() } })
    }

    private final class Distance: Sendable {
        private struct State {
            var last: GstClockTime?
            var distance: GstClockTime = 0
        }
        private let state = Mutex(State())

        /// Takes ownership of the buffer, and returns it or a modified copy.
        func apart(_ buffer: UnsafeMutablePointer<GstBuffer>) -> UnsafeMutablePointer<GstBuffer> {
            let time = buffer.pointee.pts
            guard time != .max else { return buffer }
            let late: GstClockTime? = state.withLock { state in
                defer { if state.last.map({ $0 < time }) ?? true { state.last = time } }
                guard let last = state.last else { return nil }
                if time > last { state.distance = time - last }
                guard time == last, state.distance > 0 else { return nil }
                state.last = last + state.distance
                return last + state.distance
            }
            let distance = state.withLock { $0.distance }
            let isTimeless = buffer.pointee.duration == 0 && distance > 0
            guard late != nil || isTimeless,
                let own = mb_buffer_make_writable(buffer)
            else { return buffer }
            if let late { (own.pointee.pts, own.pointee.dts) = (late, late) }
            if late != nil || isTimeless { own.pointee.duration = distance }
            return own
        }
    }
}
