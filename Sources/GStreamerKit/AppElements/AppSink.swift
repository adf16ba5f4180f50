internal import CMediaBridge

/// Where a pipeline hands its samples to the program.
///
/// Samples wait in a bounded queue inside of the element. Thread: any.
public final class AppSink: Sendable {
    /// The element, for its properties and pads.
    public let element: Element
    private var pointer: UnsafeMutablePointer<GstAppSink> {
        UnsafeMutableRawPointer(element.pointer).assumingMemoryBound(to: GstAppSink.self)
    }

    /// `nil` for an element that is not an appsink.
    public init?(_ element: Element) {
        guard mb_is_a(element.pointer, gst_app_sink_get_type()) != 0 else { return nil }
        self.element = element
    }

    /// Prepares the sink for a program that takes every frame as it comes.
    ///
    /// - Parameters:
    ///   - depth: Samples that wait at most. A bound that the string itself sets is kept.
    ///   - isPaced: Whether samples are held back until their time.
    public func configure(depth: Int, isPaced: Bool) {
        if gst_app_sink_get_max_buffers(pointer) == 0 {
            gst_app_sink_set_max_buffers(pointer, guint(clamping: depth))
        }
        element.set("sync", isPaced ? "true" : "false")
        // A branch that is never linked must not keep the others from playing.
        element.set("async", "false")
        // The sink would hold the last frame, which then could never be written in place.
        element.set("enable-last-sample", "false")
    }

    /// Whether the oldest waiting sample gives way to a new one, or the new one waits.
    public var dropsOldest: Bool {
        get { gst_app_sink_get_drop(pointer) != 0 }
        set { gst_app_sink_set_drop(pointer, newValue ? 1 : 0) }
    }

    /// Samples that wait at most.
    public var depth: Int { Int(gst_app_sink_get_max_buffers(pointer)) }

    /// Lets more samples wait, where the string does not set a bound of its own beyond `depth`.
    public func deepen(to depth: Int) {
        if self.depth < depth { gst_app_sink_set_max_buffers(pointer, guint(clamping: depth)) }
    }

    /// Whether the stream has ended and every sample has been taken.
    public var isEnded: Bool { gst_app_sink_is_eos(pointer) != 0 }

    /// The next sample if one waits. Never blocks.
    public func tryPull() -> Sample? {
        gst_app_sink_try_pull_sample(pointer, 0).map { Sample(adopting: $0) }
    }

    /// Sets what is told of each sample, and of the end; replaces what was set before. The element
    /// holds the handlers until ``removeHandlers()``.
    ///
    /// The element keeps the handlers until they are replaced or it is gone itself: one that holds
    /// this sink strongly keeps both for ever.
    ///
    /// - Parameters:
    ///   - onSample: Called on the streaming thread once for each sample, when it is there to be
    ///     pulled. What it returns goes upstream.
    ///   - onEnd: Called on the streaming thread when the stream ends.
    public func setHandlers(
        onSample: @escaping @Sendable () -> FlowResult, onEnd: @escaping @Sendable () -> Void
    ) {
        let context = UnsafeMutablePointer<Handlers>.allocate(capacity: 1)
        context.initialize(to: Handlers(onSample: onSample, onEnd: onEnd))
        mb_app_sink_set_callbacks(
            pointer,
            { _, context in
                guard let handlers = context?.assumingMemoryBound(to: Handlers.self) else {
                    return GST_FLOW_ERROR
                }
                switch handlers.pointee.sample() {
                case .ok: return GST_FLOW_OK
                case .endOfStream: return GST_FLOW_EOS
                case .flushing: return GST_FLOW_FLUSHING
                case .error: return GST_FLOW_ERROR
                }
            },
            { _, context in
                context?.assumingMemoryBound(to: Handlers.self).pointee.end()
            }, context,
            {
                let handlers = $0?.assumingMemoryBound(to: Handlers.self)
                handlers?.deinitialize(count: 1)
                handlers?.deallocate()
            })
    }

    /// Tells nobody any more. What the handlers hold is let go of, at the latest when a call that is
    /// under way returns.
    public func removeHandlers() { mb_app_sink_set_callbacks(pointer, nil, nil, nil, nil) }

    /// Lives in memory of its own, from registration to the destroy-notify. Not copyable, so that a
    /// call borrows it where it lies and counts no references.
    private struct Handlers: ~Copyable {
        let onSample: @Sendable () -> FlowResult
        let onEnd: @Sendable () -> Void
        borrowing func sample() -> FlowResult { onSample() }
        borrowing func end() { onEnd() }
    }

    /// Whether anything is linked to the sink, all the way up to an element that makes data. False for
    /// a branch whose stream the file turned out not to have.
    public var isFed: Bool { unfedElement == nil }

    /// The name of the element in front of the sink, or of the sink, that nothing is linked to; `nil`
    /// where the sink is fed.
    public var unfedElement: String? {
        var last = element
        for _ in 0..<256 {
            guard let pad = last.pad("sink"), let peer = pad.peer else { return last.name }
            // Through a chain of one-in-one-out elements; anything else counts as a source.
            guard let upstream = peer.element, upstream.pad("sink") != nil,
                upstream.pad("src") != nil
            else { return nil }
            last = upstream
        }
        return nil
    }

    /// Whether what feeds the sink is live, and how late its samples come at most. The sink itself is
    /// not asked: one that does not pace says that nothing is live. Safe on a streaming thread.
    public func upstreamLatency() -> (isLive: Bool, latency: ClockTime) {
        let none = (isLive: false, latency: ClockTime(nanoseconds: 0))
        guard let pad = element.pad("sink"), let query = gst_query_new_latency() else {
            return none
        }
        defer { gst_query_unref(query) }
        guard gst_pad_peer_query(pad.pointer, query) != 0 else { return none }
        var live: gboolean = 0
        var minimum: GstClockTime = 0
        gst_query_parse_latency(query, &live, &minimum, nil)
        return (live != 0, ClockTime(minimum) ?? none.latency)
    }

    /// What the elements in front of the sink could give; `nil` where nothing is linked yet.
    public var offeredCaps: Caps? { element.pad("sink")?.peerCaps }

    /// What it was told to take; `nil` where it takes anything.
    var ownCaps: Caps? { gst_app_sink_get_caps(pointer).map { Caps(adopting: $0) } }

    /// Narrows what the sink takes, unless the string does so itself.
    ///
    /// - Returns: False where it does.
    @discardableResult
    public func narrow(to caps: Caps) -> Bool {
        if ownCaps != nil { return false }
        gst_app_sink_set_caps(pointer, caps.pointer)
        return true
    }

    /// Has `answer` say what the sink takes: see ``Pad/answerCapsQueries(_:)``.
    public func answerCapsQueries(_ answer: @escaping @Sendable (Caps?) -> Caps?) {
        element.pad("sink")?.answerCapsQueries(answer)
    }
}
