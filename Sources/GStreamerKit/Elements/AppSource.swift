internal import CMediaBridge
internal import MediaBasics
internal import Synchronization

/// An appsrc, into which the program pushes buffers of a pipeline.
///
/// Its queue is bounded by a ``QueueLimit``: it drops its oldest buffer, or the caller asks ``isFull`` before a push,
/// and ``onDeparture(_:)`` reports when there is room again. Thread: any.
package final class AppSource: Sendable {
    /// The element, for its properties and pads.
    package let element: Element
    private let keyFrames = KeyFrames()
    private let limit = Mutex(QueueLimit())
    /// The caps that were set last.
    private let caps = Mutex<Caps?>(nil)
    /// Admits the queries of other pipelines' streaming threads.
    let queries: QueryGate
    private var pointer: UnsafeMutablePointer<GstAppSrc> {
        element.pointer.cast()
    }

    /// `nil` for an element that is not an appsrc.
    package convenience init?(_ element: Element) { self.init(element, queries: QueryGate()) }

    init?(_ element: Element, queries: QueryGate) {
        guard mb_is_a(element.pointer, gst_app_src_get_type()) != 0 else { return nil }
        self.element = element
        self.queries = queries
    }

    /// Configures the source for buffers whose timestamps are running times.
    ///
    /// - Parameters:
    ///   - limit: When the queue is full.
    ///   - dropsOldest: Whether a full queue drops its oldest buffer. Otherwise it takes every buffer, and the
    ///     caller asks ``isFull`` before a push.
    package func configure(_ limit: QueueLimit, dropsOldest: Bool) {
        self.limit.withLock { $0 = limit }
        element.set("format", "time")
        element.set("block", "false")
        let bounds = dropsOldest ? limit : QueueLimit()
        for (property, bound) in [
            ("max-buffers", bounds.buffers), ("max-bytes", bounds.bytes),
            ("max-time", bounds.time.map { Int($0.wholeNanoseconds) }),
        ] {
            mb_set_uint64(element.pointer, property, guint64(clamping: bound ?? 0))
        }
        gst_app_src_set_leaky_type(
            pointer, dropsOldest ? GST_APP_LEAKY_TYPE_DOWNSTREAM : GST_APP_LEAKY_TYPE_NONE)
    }

    /// Whether the queue has reached its limit. A queue without a buffer is never full.
    package var isFull: Bool { level.isFull }

    /// The number of buffers in the queue, and whether it has reached its limit.
    package var level: (buffers: Int, isFull: Bool) {
        let (limit, buffers) = (limit.withLock { $0 }, queuedBuffers)
        guard buffers > 0 else { return (0, false) }
        let isFull =
            limit.buffers.map { buffers >= $0 } ?? false
            || limit.bytes.map { queuedBytes >= $0 } ?? false
            || limit.time.map { queuedTime >= $0 } ?? false
        return (buffers, isFull)
    }

    /// Sets the caps of the buffers that follow. Does nothing if the last caps were the same.
    package func setCaps(_ caps: Caps) {
        // Retained, so that no other caps can get the same identity.
        let before = self.caps.exchange(caps)
        if before?.identity != caps.identity { gst_app_src_set_caps(pointer, caps.pointer) }
    }

    /// Number of buffers in the source's queue.
    package var queuedBuffers: Int { Int(gst_app_src_get_current_level_buffers(pointer)) }

    /// The size of the buffers in its queue, in bytes.
    package var queuedBytes: Int { Int(gst_app_src_get_current_level_bytes(pointer)) }

    /// The time from the oldest buffer in its queue to the end of the newest one.
    private var queuedTime: Duration {
        .nanoseconds(Int64(clamping: gst_app_src_get_current_level_time(pointer)))
    }

    /// Pushes a buffer into the queue. Never blocks.
    ///
    /// - Returns: False if the source takes no buffers: it has ended, or its pipeline does not run.
    package func push(_ buffer: consuming Buffer) -> Bool {
        gst_app_src_push_buffer(pointer, buffer.release()) == GST_FLOW_OK
    }

    /// Sends tags, in order behind the buffers that are queued. Never blocks.
    package func send(_ tags: Tags) {
        gst_event_ref(tags.event)
        gst_element_send_event(element.pointer, tags.event)
    }

    /// Signals that no more buffers follow.
    package func endOfStream() { gst_app_src_end_of_stream(pointer) }

    /// Calls `body` for every buffer that leaves the queue, on the streaming thread: it must return
    /// at once.
    package func onDeparture(_ body: @escaping @Sendable () -> Void) {
        element.pad("src")?.onBuffer(body)
    }

    /// Calls `body` with the presentation time of every buffer that leaves the queue; see ``onDeparture(_:)``.
    package func onDepartureTime(_ body: @escaping @Sendable (ClockTime) -> Void) {
        element.pad("src")?.filter { buffer in
            if let time = ClockTime(buffer.pointee.pts) { body(time) }
            return true
        }
    }

    /// The last pad that the source's buffers reach as a separate stream: the pad of a muxer,
    /// payloader or sink. Buffers that pass this pad are written. `nil` if this pad is next to the
    /// source, so that every buffer that leaves the source is written, or if nothing is linked.
    package var farEnd: Pad? {
        guard let first = element.pad("src")?.peer else { return nil }
        var end = first
        for _ in 0..<256 {
            guard let element = end.element, element.mainSinkPad != nil,
                !["Muxer", "Sink", "Payloader"].contains(where: element.klass.contains),
                let next = element.pad("src")?.peer
            else { break }
            end = next
        }
        return end.pointer == first.pointer ? nil : end
    }

    /// Whether the source's buffers are encoded or muxed on their way, so that their format and
    /// size must not change.
    package var needsFixedFormat: Bool {
        first { element in ["Muxer", "Encoder"].contains { element.klass.contains($0) } } != nil
    }

    /// The encoder or muxer downstream of the source that writes the number of frames and not their
    /// times, because it supports only a constant frame rate. `nil` if there is none, or if a
    /// videorate in front of it keeps the rate constant.
    package var pictureCounter: Element? {
        let found = first {
            $0.factoryName == "videorate" || Self.counters.contains($0.factoryName)
        }
        return found?.factoryName == "videorate" ? nil : found
    }

    private static let counters: Set = [
        "theoraenc", "avenc_mpeg1video", "avenc_mpeg2video", "avenc_mpeg4", "avenc_h261",
        "avenc_h263", "avenc_h263p", "avenc_flv", "avenc_msmpeg4", "avenc_msmpeg4v2", "avenc_wmv1",
        "avenc_wmv2", "mpeg2enc", "y4menc", "avimux", "oggmux",
    ]

    /// Whether the source's buffers are muxed into an MPEG transport stream.
    package var writesTransportStream: Bool {
        first { $0.klass.contains("Muxer") }?.factoryName == "mpegtsmux"
    }

    /// Returns the first element downstream of the source that satisfies the predicate.
    func first(where isSo: (Element) -> Bool) -> Element? {
        sequence(first: element) { $0.pad("src")?.peer?.element }.dropFirst().prefix(256)
            .first(where: isSo)
    }

    /// The element directly downstream of the source; `nil` if nothing is linked.
    package var receiver: Element? { element.pad("src")?.peer?.element }

    /// The caps that the elements downstream accept; `nil` if nothing is linked.
    package var acceptedCaps: Caps? { element.pad("src")?.peerCaps }

    /// Returns the formats of `caps` that the elements downstream accept, in the order in which
    /// they list them to an element that is linked to them.
    package func acceptedCaps(of caps: Caps?) -> Caps? {
        queries.admitCapsQuery { element.pad("src")?.peerCaps(of: caps) }
    }

    /// Returns whether the elements downstream accept `caps`.
    package func accepts(_ caps: Caps) -> Bool {
        guard let pad = element.pad("src") else { return false }
        return gst_pad_peer_query_accept_caps(pad.pointer, caps.pointer) != 0
    }
}

// MARK: Bytes

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
        element.pad("src")?.addProbe(GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM) { _, info in
            guard let event = gst_pad_probe_info_get_event(info),
                event.pointee.type == GST_EVENT_SEGMENT
            else { return GST_PAD_PROBE_OK }
            var segment = GstSegment()
            gst_segment_init(&segment, GST_FORMAT_BYTES)
            guard let inBytes = gst_event_new_segment(&segment) else { return GST_PAD_PROBE_OK }
            gst_event_set_seqnum(inBytes, gst_event_get_seqnum(event))
            gst_event_unref(event)
            info.pointee.data = UnsafeMutableRawPointer(inBytes)
            return GST_PAD_PROBE_REMOVE
        }
    }
}

// MARK: Key frames

extension AppSource {
    /// Requests a key frame from the encoder downstream at least every `interval`, counted from the
    /// first buffer. By time, because encoders count frames, which is wrong if frames arrive more
    /// slowly than the caps state. Call it once, before the first buffer; stays in force for as
    /// long as the source lives.
    package func forceKeyFrames(every interval: ClockTime) {
        guard interval.nanoseconds > 0 else { return }
        element.pad("src")?.addProbe(GST_PAD_PROBE_TYPE_BUFFER) { [keyFrames] pad, info in
            // The event precedes the buffer on its way to the encoder.
            if let time = info.buffer?.pointee.pts,
                keyFrames.isDue(at: time, every: interval.raw)
            {
                gst_pad_push_event(
                    pad,
                    gst_video_event_new_downstream_force_key_unit(
                        time, ClockTime.none, time, 1, 0))
            }
            return GST_PAD_PROBE_OK
        }
    }

    /// Makes the first frame at or after `time` a key frame too. Requires
    /// ``forceKeyFrames(every:)``. Thread: any.
    package func forceKeyFrame(from time: ClockTime) { keyFrames.request(from: time) }
}

/// Decides which frames are key frames: regular ones, and requested ones.
private final class KeyFrames: Sendable {
    private struct State {
        var next: GstClockTime?
        /// The times from which on a key frame was requested.
        var requested: Set<GstClockTime> = []
    }
    private let state = Mutex(State())

    func request(from time: ClockTime) { state.withLock { _ = $0.requested.insert(time.raw) } }

    func isDue(at time: GstClockTime, every interval: GstClockTime) -> Bool {
        guard time != ClockTime.none else { return false }
        return state.withLock { state in
            let isRequested = state.requested.contains { $0 <= time }
            if isRequested { state.requested = state.requested.filter { $0 > time } }
            guard let due = state.next else {
                // The first is a key frame anyway. Asked for, it would be the last one: GStreamer 1.22 takes its
                // time before x264enc's shift of 1000 hours for that of a request, and requests of earlier times
                // for too many (gst_video_encoder_chain: "Not requesting another key unit").
                state.next = time &+ interval
                return false
            }
            guard isRequested || time >= due else { return false }
            state.next =
                isRequested
                ? time &+ interval : due &+ ((time - due) / interval + 1) &* interval
            return true
        }
    }
}
