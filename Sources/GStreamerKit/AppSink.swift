internal import CMediaBridge

/// Where a pipeline hands its samples to the program.
///
/// Samples wait in a bounded queue inside of the element. Thread: any.
public final class AppSink: Sendable {
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

    /// Sets what is told of each sample, and of the end; replaces what was set before.
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
        let context = Unmanaged.passRetained(Handlers(onSample, onEnd)).toOpaque()
        mb_app_sink_set_callbacks(
            pointer,
            { _, context in
                guard let context else { return GST_FLOW_ERROR }
                return Unmanaged<Handlers>.fromOpaque(context)._withUnsafeGuaranteedRef {
                    switch $0.onSample() {
                    case .ok: GST_FLOW_OK
                    case .endOfStream: GST_FLOW_EOS
                    case .flushing: GST_FLOW_FLUSHING
                    case .error: GST_FLOW_ERROR
                    }
                }
            },
            { _, context in
                guard let context else { return }
                Unmanaged<Handlers>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.onEnd() }
            }, context,
            { if let context = $0 { Unmanaged<Handlers>.fromOpaque(context).release() } })
    }

    private final class Handlers: Sendable {
        let onSample: @Sendable () -> FlowResult
        let onEnd: @Sendable () -> Void
        init(
            _ onSample: @escaping @Sendable () -> FlowResult,
            _ onEnd: @escaping @Sendable () -> Void
        ) {
            self.onSample = onSample
            self.onEnd = onEnd
        }
    }

    /// Whether anything is linked to the sink, all the way up to an element that makes data. False for
    /// a branch whose stream the file turned out not to have.
    public var isFed: Bool {
        var pad = element.pad("sink")
        for _ in 0..<256 {
            guard let peer = pad?.peer else { return false }
            // Through a chain of one-in-one-out elements; anything else counts as a source.
            guard let upstream = peer.element?.pad("sink"), peer.element?.pad("src") != nil else {
                return true
            }
            pad = upstream
        }
        return true
    }
}
