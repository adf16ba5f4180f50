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

extension Pad {
    /// Replaces bytes of the file in the buffers that are pulled from this pad, which must be a
    /// file source's. The file itself is not changed. The probe lives as long as the pad.
    ///
    /// - Parameter patches: The replacement bytes, by offset in the file.
    package func overwrite(_ patches: [Int: [UInt8]]) {
        guard !patches.isEmpty else { return }
        _ = mb_pad_add_probe(
            pointer,
            GstPadProbeType(
                rawValue: GST_PAD_PROBE_TYPE_PULL.rawValue | GST_PAD_PROBE_TYPE_BUFFER.rawValue),
            { _, info, context in
                guard let info, let context, let buffer = gst_pad_probe_info_get_buffer(info) else {
                    return GST_PAD_PROBE_OK
                }
                Unmanaged<Patches>.fromOpaque(context)._withUnsafeGuaranteedRef {
                    $0.apply(to: buffer)
                }
                return GST_PAD_PROBE_OK
            }, Unmanaged.passRetained(Patches(patches)).toOpaque(),
            { if let context = $0 { Unmanaged<Patches>.fromOpaque(context).release() } })
    }

    private final class Patches: Sendable {
        private let patches: [Int: [UInt8]]

        init(_ patches: [Int: [UInt8]]) { self.patches = patches }

        /// Writes in place: a buffer that a file source has just read has no other owner.
        func apply(to buffer: UnsafeMutablePointer<GstBuffer>) {
            guard buffer.pointee.offset != .max else { return }
            let start = Int(clamping: buffer.pointee.offset)
            let end = start + Int(gst_buffer_get_size(buffer))
            for (place, bytes) in patches {
                for (index, byte) in bytes.enumerated() where (start..<end).contains(place + index)
                {
                    _ = withUnsafePointer(to: byte) {
                        gst_buffer_fill(buffer, gsize(place + index - start), $0, 1)
                    }
                }
            }
        }
    }
}

extension Pad {
    /// Lets `body` modify buffers, chosen by their size and their first eight bytes as a big-endian number.
    /// Runs on the streaming thread, before any downstream element gets the buffer: `body` must return at once.
    /// Stays installed for as long as the pad lives.
    ///
    /// - Parameter isMeant: Whether a buffer is to be modified; not called for those of fewer bytes.
    package func rewrite(
        _ isMeant: @escaping @Sendable (_ head: UInt64, _ size: Int) -> Bool,
        _ body: @escaping @Sendable (UnsafeMutableRawBufferPointer) -> Void
    ) {
        let context = UnsafeMutablePointer<Editor>.allocate(capacity: 1)
        context.initialize(to: Editor(isMeant: isMeant, body: body))
        _ = mb_pad_add_probe(
            pointer, GST_PAD_PROBE_TYPE_BUFFER,
            { _, info, context in
                guard let editor = context?.assumingMemoryBound(to: Editor.self), let info,
                    let buffer = gst_pad_probe_info_get_buffer(info),
                    editor.pointee.wants(buffer)
                else { return GST_PAD_PROBE_OK }
                guard let own = mb_pad_probe_own_buffer(info) else { return GST_PAD_PROBE_OK }
                var map = GstMapInfo()
                guard gst_buffer_map(own, &map, GST_MAP_WRITE) != 0 else { return GST_PAD_PROBE_OK }
                editor.pointee.edit(
                    UnsafeMutableRawBufferPointer(start: map.data, count: Int(map.size)))
                gst_buffer_unmap(own, &map)
                return GST_PAD_PROBE_OK
            }, context,
            {
                let editor = $0?.assumingMemoryBound(to: Editor.self)
                editor?.deinitialize(count: 1)
                editor?.deallocate()
            })
    }

    /// Heap-allocated from registration until the destroy-notify.
    private struct Editor: ~Copyable {
        let isMeant: @Sendable (UInt64, Int) -> Bool
        let body: @Sendable (UnsafeMutableRawBufferPointer) -> Void

        borrowing func wants(_ buffer: UnsafeMutablePointer<GstBuffer>) -> Bool {
            var head: UInt64 = 0
            guard gst_buffer_extract(buffer, 0, &head, 8) == 8 else { return false }
            return isMeant(UInt64(bigEndian: head), Int(gst_buffer_get_size(buffer)))
        }

        borrowing func edit(_ bytes: UnsafeMutableRawBufferPointer) { body(bytes) }
    }
}
