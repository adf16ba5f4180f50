internal import CMediaBridge
internal import Synchronization

// Corrections of a file's streams on their way through a pad. The probes live as long as the pad.

// MARK: Formats

extension Pad {
    /// Passes only the first caps event, and segment events only until the first buffer, with their
    /// stop position removed; drops all later ones.
    ///
    /// For `qtdemux` 1.22, which starts a new segment for each fragment, and which sets the frame
    /// rate in the caps only with the second fragment.
    package func keepFirstFormat() {
        let first = FirstFormat()
        addProbe(GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, GST_PAD_PROBE_TYPE_BUFFER) { _, info in
            guard info.pointee.type.rawValue & GST_PAD_PROBE_TYPE_BUFFER.rawValue == 0,
                let event = gst_pad_probe_info_get_event(info)
            else {
                first.hasBuffer.store(true, ordering: .relaxed)
                return GST_PAD_PROBE_OK
            }
            return first.passes(event, info) ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP
        }
    }

    /// Makes running time and stream time the time that the file states, before and after a seek.
    ///
    /// For `matroskademux`, which counts from the first block that it reads, and begins a new segment when
    /// a block of another stream is earlier: the frames before and after that event would be apart.
    package func keepTimestamps() {
        addProbe(GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM) { _, info in
            guard let event = gst_pad_probe_info_get_event(info),
                event.pointee.type == GST_EVENT_SEGMENT
            else { return GST_PAD_PROBE_OK }
            Self.replaceSegment(event, info) {
                ($0.start, $0.stop, $0.time, $0.base, $0.offset) = (0, .max, 0, 0, 0)
            }
            return GST_PAD_PROBE_OK
        }
    }

    /// Shows a part of a track: frames before it get negative running times, and frames after it are dropped.
    ///
    /// - Parameters:
    ///   - start: The beginning of the part in the track's time, in nanoseconds.
    ///   - stop: Its end; the greatest number for the end of the track.
    ///   - delay: When it is shown.
    func show(from start: UInt64, to stop: UInt64, at delay: UInt64) {
        addProbe(GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, GST_PAD_PROBE_TYPE_BUFFER) { _, info in
            guard info.pointee.type.rawValue & GST_PAD_PROBE_TYPE_BUFFER.rawValue == 0,
                let event = gst_pad_probe_info_get_event(info)
            else {
                // Pictures that are decoded earlier may be referred to.
                let decoded = info.buffer?.pointee.dts ?? .max
                return decoded != .max && decoded >= stop
                    ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK
            }
            guard event.pointee.type == GST_EVENT_SEGMENT else { return GST_PAD_PROBE_OK }
            Self.replaceSegment(event, info) {
                $0.start = max($0.start, guint64(start))
                $0.stop = guint64(stop)
                $0.time = $0.start - guint64(start) &+ guint64(delay)
                $0.base &+= guint64(delay)
            }
            return GST_PAD_PROBE_OK
        }
    }

    /// Answers queries for the duration, which is in nanoseconds.
    func answerDuration(_ duration: UInt64) {
        addProbe(GST_PAD_PROBE_TYPE_QUERY_UPSTREAM) { _, info in
            var format = GST_FORMAT_UNDEFINED
            guard let query = gst_pad_probe_info_get_query(info),
                query.pointee.type == GST_QUERY_DURATION
            else { return GST_PAD_PROBE_OK }
            gst_query_parse_duration(query, &format, nil)
            guard format == GST_FORMAT_TIME else { return GST_PAD_PROBE_OK }
            gst_query_set_duration(query, GST_FORMAT_TIME, gint64(clamping: duration))
            return GST_PAD_PROBE_HANDLED
        }
    }

    /// Extends the segment of an encoded stream to its first frame, with the same running times: a sink drops
    /// frames outside of the segment.
    func takeHiddenFrames() {
        addProbe(GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM) { pad, info in
            guard let event = gst_pad_probe_info_get_event(info),
                event.pointee.type == GST_EVENT_SEGMENT,
                Pad(retaining: pad).caps?.isRaw == false
            else { return GST_PAD_PROBE_OK }
            Self.replaceSegment(event, info) { ($0.start, $0.offset) = (0, $0.offset + $0.start) }
            return GST_PAD_PROBE_OK
        }
    }

    private static func replaceSegment(
        _ event: UnsafeMutablePointer<GstEvent>, _ info: UnsafeMutablePointer<GstPadProbeInfo>,
        _ change: (inout GstSegment) -> Void
    ) {
        var segment: UnsafePointer<GstSegment>?
        gst_event_parse_segment(event, &segment)
        guard var changed = segment?.pointee else { return }
        change(&changed)
        // The pad takes over whichever event the probe's info holds after the last probe;
        // the replaced event has to be unreferenced here.
        info.pointee.data = UnsafeMutableRawPointer(gst_event_new_segment(&changed))
        gst_event_unref(event)
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
                replaceSegment(event, info) { $0.stop = .max }
                return true
            default: return true
            }
        }
    }
}

// MARK: Timestamps

extension Pad {
    /// Separates audio buffers with equal timestamps by the interval between the buffers before
    /// them.
    ///
    /// For fragmented files: `mp4mux` 1.22 does not know the duration of the last block of some
    /// fragments, and writes a duration of zero.
    package func keepApart() {
        let distance = Distance()
        addProbe(GST_PAD_PROBE_TYPE_BUFFER) { _, info in
            if let buffer = info.buffer {
                info.pointee.data = UnsafeMutableRawPointer(distance.apart(buffer))
            }
            return GST_PAD_PROBE_OK
        }
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

// MARK: Bytes

extension Pad {
    /// Replaces bytes of the file in the buffers that leave this pad, which must be a file source's.
    /// The file itself is not changed.
    ///
    /// - Parameter patches: The replacement bytes, by offset in the file.
    package func overwrite(_ patches: [Int: [UInt8]]) {
        guard !patches.isEmpty else { return }
        addProbe(GST_PAD_PROBE_TYPE_PULL, GST_PAD_PROBE_TYPE_PUSH, GST_PAD_PROBE_TYPE_BUFFER) {
            _, info in
            if let buffer = info.buffer { Self.apply(patches, to: buffer) }
            return GST_PAD_PROBE_OK
        }
    }

    /// Writes in place: a buffer that a file source has just read has no other owner.
    private static func apply(
        _ patches: [Int: [UInt8]], to buffer: UnsafeMutablePointer<GstBuffer>
    ) {
        guard buffer.pointee.offset != .max else { return }
        let start = Int(clamping: buffer.pointee.offset)
        let end = start + Int(gst_buffer_get_size(buffer))
        for (place, bytes) in patches {
            for (index, byte) in bytes.enumerated() where (start..<end).contains(place + index) {
                _ = withUnsafePointer(to: byte) {
                    gst_buffer_fill(buffer, gsize(place + index - start), $0, 1)
                }
            }
        }
    }

    /// Lets `body` modify buffers, chosen by their size and their first eight bytes as a big-endian
    /// number. It runs on the streaming thread, before any downstream element gets the buffer, and
    /// must return at once.
    ///
    /// - Parameter isMeant: Whether a buffer is to be modified; not called for a buffer of fewer
    ///   than eight bytes.
    package func rewrite(
        _ isMeant: @escaping @Sendable (_ head: UInt64, _ size: Int) -> Bool,
        _ body: @escaping @Sendable (UnsafeMutableRawBufferPointer) -> Void
    ) {
        addProbe(GST_PAD_PROBE_TYPE_BUFFER) { _, info in
            var head: UInt64 = 0
            var map = GstMapInfo()
            guard let buffer = info.buffer,
                gst_buffer_extract(buffer, 0, &head, 8) == 8,
                isMeant(UInt64(bigEndian: head), Int(gst_buffer_get_size(buffer))),
                let own = mb_pad_probe_own_buffer(info),
                gst_buffer_map(own, &map, GST_MAP_WRITE) != 0
            else { return GST_PAD_PROBE_OK }
            body(UnsafeMutableRawBufferPointer(start: map.data, count: Int(map.size)))
            gst_buffer_unmap(own, &map)
            return GST_PAD_PROBE_OK
        }
    }
}
