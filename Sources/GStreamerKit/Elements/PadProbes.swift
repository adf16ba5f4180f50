internal import CMediaBridge
internal import MediaBasics

// Probes on pads. A probe and everything that its callback captures live as long as the pad,
// unless the probe is removed. Callbacks run on the streaming thread, and must return at once.

extension Pad {
    /// The callback of a probe.
    typealias Probe =
        @Sendable (
            _ pad: UnsafeMutablePointer<GstPad>, _ info: UnsafeMutablePointer<GstPadProbeInfo>
        ) -> GstPadProbeReturn

    /// Adds a probe for all of these types.
    @discardableResult
    func addProbe(_ types: GstPadProbeType..., body: @escaping Probe) -> PadProbe {
        let context = UnsafeMutablePointer<ProbeContext>.allocate(capacity: 1)
        context.initialize(to: ProbeContext(body: body))
        HandOver.begin(context)
        let id = mb_pad_add_probe(
            pointer, GstPadProbeType(rawValue: types.reduce(0) { $0 | $1.rawValue }),
            { pad, info, context in
                guard let pad, let info,
                    let context = context?.assumingMemoryBound(to: ProbeContext.self)
                else { return GST_PAD_PROBE_OK }
                HandOver.end(context)
                defer { info.handOver() }
                return context.pointee.call(pad, info)
            }, context,
            {
                let context = $0?.assumingMemoryBound(to: ProbeContext.self)
                context?.deinitialize(count: 1)
                context?.deallocate()
            })
        return PadProbe(pad: self, id: id)
    }

    /// Heap-allocated from registration until the destroy-notify. Not copyable, so that a call
    /// borrows it in place and does no reference counting.
    private struct ProbeContext: ~Copyable {
        let body: Probe

        borrowing func call(
            _ pad: UnsafeMutablePointer<GstPad>, _ info: UnsafeMutablePointer<GstPadProbeInfo>
        ) -> GstPadProbeReturn { body(pad, info) }
    }
}

extension UnsafeMutablePointer<GstPadProbeInfo> {
    /// The buffer that passes; `nil` if it is something else.
    var buffer: UnsafeMutablePointer<GstBuffer>? {
        guard let buffer = gst_pad_probe_info_get_buffer(self) else { return nil }
        HandOver.end(buffer)
        return buffer
    }

    /// Declares that this thread passes the buffers on.
    fileprivate func handOver() {
        #if SANITIZES_THREADS
            let buffers =
                GST_PAD_PROBE_TYPE_BUFFER.rawValue | GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue
            if pointee.type.rawValue & buffers != 0 { forEachBuffer { HandOver.begin($0) } }
        #endif
    }

    /// Calls `body` with the buffer, or with each buffer of the list.
    fileprivate func forEachBuffer(_ body: (UnsafeMutablePointer<GstBuffer>) -> Void) {
        guard pointee.type.rawValue & GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue != 0 else {
            if let buffer { body(buffer) }
            return
        }
        let list = gst_pad_probe_info_get_buffer_list(self)
        for place in 0..<(list.map { gst_buffer_list_length($0) } ?? 0) {
            guard let buffer = gst_buffer_list_get(list, place) else { continue }
            HandOver.end(buffer)
            body(buffer)
        }
    }
}

// MARK: Buffers

extension Pad {
    /// The buffers for which ``onBuffer(of:_:)`` calls its callback.
    package enum BufferKind: Sendable {
        case all
        /// All except headers without a timestamp, and corrections of written bytes: they hold no media.
        case media
        /// Media without a presentation time.
        case timelessMedia
    }

    /// Calls `body` for every buffer of this kind that passes.
    package func onBuffer(of kind: BufferKind = .all, _ body: @escaping @Sendable () -> Void) {
        addProbe(GST_PAD_PROBE_TYPE_BUFFER, GST_PAD_PROBE_TYPE_BUFFER_LIST) { pad, info in
            info.forEachBuffer { buffer in
                let isMeant =
                    switch kind {
                    case .all: true
                    case .media: buffer.isMedia(at: pad)
                    case .timelessMedia: buffer.pointee.pts == .max && buffer.isMedia(at: pad)
                    }
                if isMeant { body() }
            }
            return GST_PAD_PROBE_OK
        }
    }

    /// Calls `body` for every buffer that passes, except headers without a timestamp, with the
    /// buffer's running time in nanoseconds (`nil` if unknown), its size in bytes, and whether it is a
    /// key frame.
    func onRunningTime(_ body: @escaping @Sendable (Int64?, Int, Bool) -> Void) {
        addProbe(GST_PAD_PROBE_TYPE_BUFFER) { pad, info in
            guard let buffer = info.buffer, !buffer.isTimelessHeader else {
                return GST_PAD_PROBE_OK
            }
            body(buffer.runningTime(at: pad), Int(gst_buffer_get_size(buffer)), buffer.isKey)
            return GST_PAD_PROBE_OK
        }
    }

    /// Drops the buffers for which `admits` returns false.
    ///
    /// - Parameter admits: Gets whether a buffer is a key frame.
    package func filterBuffers(_ admits: @escaping @Sendable (_ isKey: Bool) -> Bool) {
        filter { admits($0.isKey) }
    }

    /// Drops the buffers that do not pass, and every list that contains such a buffer. `passes` gets
    /// each buffer of a list.
    func filter(_ passes: @escaping @Sendable (UnsafeMutablePointer<GstBuffer>) -> Bool) {
        addProbe(GST_PAD_PROBE_TYPE_BUFFER, GST_PAD_PROBE_TYPE_BUFFER_LIST) { _, info in
            var isAdmitted = true
            info.forEachBuffer { if !passes($0) { isAdmitted = false } }
            return isAdmitted ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP
        }
    }

    /// Drops all buffers of a running time from `end` on, until the probe is removed.
    func dropBuffers(from end: ClockTime) -> PadProbe {
        let end = Int64(clamping: end.nanoseconds)
        return addProbe(GST_PAD_PROBE_TYPE_BUFFER) { pad, info in
            let time = info.buffer?.runningTime(at: pad)
            return time.map { $0 < end } ?? true ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP
        }
    }

    /// Drops all buffers before a time in nanoseconds: a time in the file, or a running time.
    func dropBuffers(before start: Int64, isFileTime: Bool) {
        addProbe(GST_PAD_PROBE_TYPE_BUFFER) { pad, info in
            guard let buffer = info.buffer, let segment = pad.segment,
                let time = isFileTime
                    ? segment.fileTime(of: buffer.pointee.pts)
                    : segment.runningTime(of: buffer.pointee.pts)
            else { return GST_PAD_PROBE_DROP }
            return time >= start ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP
        }
    }

    /// Blocks every buffer and every gap at this pad, and with it the streaming thread, until the probe is
    /// removed or the pad is flushed. A buffer that has already passed the pad is not affected. In a sink, a
    /// gap waits for the state as a buffer does.
    ///
    /// - Parameter onBlock: Called when one waits.
    func block(_ onBlock: @escaping @Sendable () -> Void = {}) -> PadProbe {
        addProbe(
            GST_PAD_PROBE_TYPE_BLOCK, GST_PAD_PROBE_TYPE_BUFFER, GST_PAD_PROBE_TYPE_BUFFER_LIST,
            GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM
        ) { _, info in
            let type = info.pointee.type.rawValue
            if type & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM.rawValue != 0,
                gst_pad_probe_info_get_event(info)?.pointee.type != GST_EVENT_GAP
            {
                return GST_PAD_PROBE_PASS
            }
            onBlock()
            return GST_PAD_PROBE_OK
        }
    }
}

/// A probe that can be removed from its pad.
package struct PadProbe: Sendable {
    fileprivate let pad: Pad
    fileprivate let id: gulong

    package func remove() { gst_pad_remove_probe(pad.pointer, id) }
}

extension UnsafeMutablePointer<GstBuffer> {
    /// Whether it holds no media but only data that a decoder needs first, and has no time. A key frame
    /// of an elementary stream may carry the flag as well, but has a decoding time.
    fileprivate var isTimelessHeader: Bool {
        gst_buffer_has_flags(self, GST_BUFFER_FLAG_HEADER) != 0
            && pointee.pts == .max && pointee.dts == .max
    }

    var isKey: Bool { gst_buffer_has_flags(self, GST_BUFFER_FLAG_DELTA_UNIT) == 0 }

    /// Whether it holds media: it is not a header, and not a correction of bytes that were already
    /// written. flacenc sends corrections at its end if the element downstream can seek in bytes
    /// (matroskamux from 1.24 on).
    fileprivate func isMedia(at pad: UnsafeMutablePointer<GstPad>) -> Bool {
        guard pointee.pts == .max, pointee.dts == .max else { return true }
        return !isTimelessHeader && pad.segment?.format != GST_FORMAT_BYTES
    }

    /// Returns the running time in nanoseconds; `nil` if it is unknown. Negative times are returned
    /// too: audio may begin with samples that are to be clipped.
    fileprivate func runningTime(at pad: UnsafeMutablePointer<GstPad>) -> Int64? {
        pad.segment?.runningTime(of: pointee.pts)
    }
}

extension GstSegment {
    /// Returns a time of the stream as running time, in nanoseconds; negative before the segment's
    /// start. `nil` if there is no time, or if the segment's format is not time.
    func runningTime(of time: GstClockTime) -> Int64? {
        signed(time, gst_segment_to_running_time_full)
    }

    /// Returns a time of the stream as time in the file, in nanoseconds, which a seek does not
    /// change; `nil` as for ``runningTime(of:)``.
    func fileTime(of time: GstClockTime) -> Int64? {
        signed(time, gst_segment_to_stream_time_full)
    }

    private func signed(
        _ time: GstClockTime,
        _ convert: (
            UnsafePointer<GstSegment>?, GstFormat, guint64, UnsafeMutablePointer<guint64>?
        ) -> gint
    ) -> Int64? {
        guard time != .max, format == GST_FORMAT_TIME else { return nil }
        var (segment, result) = (self, guint64(0))
        let sign = convert(&segment, GST_FORMAT_TIME, time, &result)
        guard sign != 0, result <= guint64(Int64.max) else { return nil }
        return Int64(sign) * Int64(result)
    }
}

extension UnsafeMutablePointer<GstPad> {
    /// The present segment; `nil` before the first one.
    var segment: GstSegment? {
        guard let event = gst_pad_get_sticky_event(self, GST_EVENT_SEGMENT, 0) else { return nil }
        defer { gst_event_unref(event) }
        var segment: UnsafePointer<GstSegment>?
        gst_event_parse_segment(event, &segment)
        return segment?.pointee
    }
}

// MARK: Events

extension Pad {
    /// Calls `body` for each gap event, until the probe is removed.
    func onGap(_ body: @escaping @Sendable () -> Void) -> PadProbe {
        addProbe(GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM) { _, info in
            if gst_pad_probe_info_get_event(info)?.pointee.type == GST_EVENT_GAP { body() }
            return GST_PAD_PROBE_OK
        }
    }

    /// Calls `body` when an element downstream requests a key frame, on the thread of that element.
    /// The request goes on upstream.
    package func onKeyFrameRequest(_ body: @escaping @Sendable () -> Void) {
        addProbe(GST_PAD_PROBE_TYPE_EVENT_UPSTREAM) { _, info in
            if let event = gst_pad_probe_info_get_event(info),
                gst_video_event_is_force_key_unit(event) != 0
            {
                body()
            }
            return GST_PAD_PROBE_OK
        }
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
        addProbe(GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM) { pad, info in
            guard gst_pad_probe_info_get_event(info)?.pointee.type == GST_EVENT_EOS,
                gst_pad_has_current_caps(pad) == 0,
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
        }
    }
}
