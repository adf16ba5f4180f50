internal import CMediaBridge
internal import MediaBasics

/// An appsink, from which the program pulls a pipeline's samples.
///
/// Samples wait in a bounded queue inside of the element. Thread: any.
package final class AppSink: Sendable {
    /// The element, for its properties and pads.
    package let element: Element
    private var pointer: UnsafeMutablePointer<GstAppSink> {
        element.pointer.cast()
    }

    /// `nil` for an element that is not an appsink.
    package init?(_ element: Element) {
        guard mb_is_a(element.pointer, gst_app_sink_get_type()) != 0 else { return nil }
        self.element = element
        GStreamer.countAsLiving(element.pointer)
    }

    /// Configures the sink for a program that pulls every frame as it arrives.
    ///
    /// - Parameters:
    ///   - depth: Maximum number of queued samples. A limit that the string itself sets is kept.
    ///   - isPaced: Whether samples are held back until their running time.
    package func configure(depth: Int, isPaced: Bool) {
        if gst_app_sink_get_max_buffers(pointer) == 0 {
            gst_app_sink_set_max_buffers(pointer, guint(clamping: depth))
        }
        element.set("sync", isPaced ? "true" : "false")
        // A branch that is never linked must not keep the others from reaching PLAYING.
        element.set("async", "false")
        // Otherwise the sink would keep a reference to the last frame, which could never be written
        // in place.
        element.set("enable-last-sample", "false")
    }

    /// Whether a full queue drops its oldest sample for a new one; otherwise the new one waits.
    package var dropsOldest: Bool {
        get { gst_app_sink_get_drop(pointer) != 0 }
        set { gst_app_sink_set_drop(pointer, newValue ? 1 : 0) }
    }

    /// Maximum number of queued samples.
    package var depth: Int { Int(gst_app_sink_get_max_buffers(pointer)) }

    /// Raises the maximum number of queued samples to `depth`; a higher limit is kept.
    package func deepen(to depth: Int) {
        if self.depth < depth { gst_app_sink_set_max_buffers(pointer, guint(clamping: depth)) }
    }

    /// Whether the stream has ended and every sample has been pulled.
    package var isEnded: Bool { gst_app_sink_is_eos(pointer) != 0 }

    /// Returns the next sample, or `nil` if none is queued. Never blocks.
    package func tryPull() -> Sample? {
        gst_app_sink_try_pull_sample(pointer, 0).map { Sample(adopting: $0) }
    }

    /// Sets the callbacks for samples and for the end of the stream; replaces earlier ones.
    ///
    /// The element keeps the callbacks until they are replaced, removed with ``removeHandlers()``,
    /// or the element is freed: a callback that holds this sink strongly is a reference cycle.
    ///
    /// - Parameters:
    ///   - onSample: Called on the streaming thread once for each sample, when it can be pulled.
    ///     Returns whether more samples are wanted; if not, the elements upstream end the stream.
    ///   - onEnd: Called on the streaming thread when the stream ends.
    package func setHandlers(
        onSample: @escaping @Sendable () -> Bool, onEnd: @escaping @Sendable () -> Void
    ) {
        let context = UnsafeMutablePointer<Handlers>.allocate(capacity: 1)
        context.initialize(to: Handlers(onSample: onSample, onEnd: onEnd))
        HandOver.begin(context)
        mb_app_sink_set_callbacks(
            pointer,
            { _, context in
                guard let handlers = context?.assumingMemoryBound(to: Handlers.self) else {
                    return GST_FLOW_ERROR
                }
                HandOver.end(handlers)
                return handlers.pointee.sample() ? GST_FLOW_OK : GST_FLOW_EOS
            },
            { _, context in
                guard let handlers = context?.assumingMemoryBound(to: Handlers.self) else { return }
                HandOver.end(handlers)
                handlers.pointee.end()
            }, context,
            {
                let handlers = $0?.assumingMemoryBound(to: Handlers.self)
                handlers?.deinitialize(count: 1)
                handlers?.deallocate()
            })
    }

    /// Removes the callbacks. What they hold is released at the latest when a call in progress
    /// returns.
    package func removeHandlers() { mb_app_sink_set_callbacks(pointer, nil, nil, nil, nil) }

    /// Heap-allocated from registration until the destroy-notify. Not copyable, so that a call
    /// borrows it in place and does no reference counting.
    private struct Handlers: ~Copyable {
        let onSample: @Sendable () -> Bool
        let onEnd: @Sendable () -> Void
        borrowing func sample() -> Bool { onSample() }
        borrowing func end() { onEnd() }
    }

    /// Whether the sink is linked, all the way up to an element that produces data. False for a
    /// branch whose stream the file does not contain.
    package var isFed: Bool { unfedElement == nil }

    /// The name of the first element upstream of the sink, or of the sink itself, whose sink pad is
    /// not linked; `nil` if the sink is fed.
    package var unfedElement: String? {
        var last = element
        for _ in 0..<256 {
            guard let pad = last.pad("sink"), let peer = pad.peer else { return last.name }
            // Follow elements with one input and one output; any other element counts as a source.
            guard let upstream = peer.element, upstream.pad("sink") != nil,
                upstream.pad("src") != nil
            else { return nil }
            last = upstream
        }
        return nil
    }

    /// Queries whether the elements upstream of the sink are live, and their minimum latency. The
    /// query bypasses the sink itself, because a sink without pacing reports that nothing is live.
    /// Safe on a streaming thread.
    package func upstreamLatency() -> (isLive: Bool, latency: ClockTime) {
        element.pad("sink")?.latency(ofPeer: true) ?? (false, ClockTime(nanoseconds: 0))
    }

    /// The caps that the elements upstream could produce; `nil` if the sink is not linked yet.
    package var offeredCaps: Caps? { element.pad("sink")?.peerCaps }

    /// The sink's `caps` property; `nil` if it accepts any caps.
    var ownCaps: Caps? { gst_app_sink_get_caps(pointer).map { Caps(adopting: $0) } }

    /// Sets the caps that the sink accepts, unless the string does so itself.
    ///
    /// - Returns: False if the sink already has caps; they are kept.
    @discardableResult
    package func narrow(to caps: Caps) -> Bool {
        if ownCaps != nil { return false }
        gst_app_sink_set_caps(pointer, caps.pointer)
        return true
    }

    /// Lets the elements upstream write into memory of those behind `source`, as elements of one
    /// pipeline do: a display then copies no picture. Memory is lent while the pipeline of `source`
    /// is at READY or higher. Call it before data flows.
    package func forwardAllocationQueries(to source: AppSource) {
        guard let pad = element.pad("sink"), let other = source.element.pad("src") else { return }
        let gate = source.queries
        PadFunctions.of(pad).answerQueries(of: GST_QUERY_ALLOCATION) { query, _ in
            var caps: UnsafeMutablePointer<GstCaps>?
            gst_query_parse_allocation(query, &caps, nil)
            guard let caps else { return false }
            // Frames that will be converted do not fit into the elements' memory: some elements
            // return the size for their own format.
            return gate.admitAllocationQuery {
                gst_pad_peer_query_accept_caps(other.pointer, caps) != 0
                    && gst_pad_peer_query(other.pointer, query) != 0
            }
        }
    }

    /// Answers caps queries in place of the sink. Call it before data flows.
    ///
    /// - Parameter answer: Receives the filter caps of the query, in the order of preference of the
    ///   querying element; `nil` if there is no filter. If it returns `nil`, the sink answers. It
    ///   runs on the thread of the querying element and must not block.
    package func answerCapsQueries(_ answer: @escaping @Sendable (Caps?) -> Caps?) {
        guard let pad = element.pad("sink") else { return }
        PadFunctions.of(pad).answerQueries(of: GST_QUERY_CAPS) { query, _ in
            var filter: UnsafeMutablePointer<GstCaps>?
            gst_query_parse_caps(query, &filter)
            guard let answer = answer(filter.map { Caps(retaining: $0) }) else { return false }
            gst_query_set_caps_result(query, answer.pointer)
            return true
        }
    }

    /// Asks the elements in front for a key frame. An encoder makes one; a receiver of RTP asks the
    /// sender. Thread: any.
    ///
    /// - Returns: Whether an element took the request.
    package func requestKeyFrame() -> Bool {
        guard let pad = element.pad("sink") else { return false }
        let event = gst_video_event_new_upstream_force_key_unit(ClockTime.none, 1, 0)
        return gst_pad_push_event(pad.pointer, event) != 0
    }

    /// Whether the stream comes out of RTP packets.
    package var isReceived: Bool {
        upstream.contains { $0.klass.contains("Depayloader") || $0.factoryName == "rtspsrc" }
    }

    /// The elements upstream of the sink, the nearest first, as far as each passes on one stream.
    private var upstream: some Sequence<Element> {
        sequence(first: element) { $0.mainSinkPad?.peer?.element }.dropFirst().prefix(256)
    }
}

// MARK: Formats

extension AppSink {
    /// The kind of element upstream of a sink that determines the format of its samples.
    package enum FormatOrigin: Sendable {
        /// A source, which produces the requested format.
        case source
        /// A converter, which converts its input to the requested format, with as few changes as
        /// possible.
        case converter
        /// A decoder, parser or mixer: the stream determines the format, even if the pads' caps allow others.
        case stream
    }

    /// The formats that every player and encoder accepts: 4:2:0 with 8 bits.
    package static var commonFormats: Caps? { try? Caps("video/x-raw,format={I420,NV12,YV12}") }

    /// Requests one of the ``commonFormats`` if the string leaves the choice to a source that supports them: the
    /// first format of videotestsrc has 64 bits per pixel. A format that a stream determines is kept. The devices
    /// must be open.
    package func preferCommonFormats() {
        guard let common = Self.commonFormats, canChoose(common) else { return }
        narrow(to: common)
    }

    /// Whether sources upstream can produce one of these formats, as far as their devices and the elements
    /// downstream of them allow, and get the request. Call it before data flows.
    package func canChoose(_ formats: Caps) -> Bool {
        guard let pad = element.pad("sink") else { return false }
        let isTrial = narrow(to: formats)
        defer { if isTrial { gst_app_sink_set_caps(pointer, nil) } }
        return Self.canChoose(formats, pad, depth: 256, isConverted: false)
    }

    /// - Parameter isConverted: Whether an element downstream makes the format of others.
    private static func canChoose(
        _ formats: Caps, _ pad: Pad, depth: Int, isConverted: Bool
    ) -> Bool {
        guard depth > 0, let offered = pad.peerCaps, !offered.isAny,
            !offered.intersection(formats).isEmpty, let upstream = pad.peer?.element
        else { return false }
        if upstream.klass.contains("Source") { return true }
        let sinks = upstream.passedSinkPads
        return !sinks.isEmpty
            && sinks.allSatisfy { sink in
                let passes = sink.asksOnly(for: formats)
                // Other elements may keep the request to themselves, as fieldanalysis does.
                guard passes || isConverted || upstream.negotiatesBothSides else { return false }
                return canChoose(
                    formats, sink, depth: depth - 1, isConverted: isConverted || !passes)
            }
    }

    /// Determined by walking upstream through elements that do not change the format.
    package var formatOrigin: FormatOrigin {
        for element in upstream {
            let klass = element.klass
            if klass.contains("Source") { return .source }
            if klass.contains("Colorspace") || element.factoryName == "audioconvert" {
                return .converter
            }
            if klass.contains("Codec") || klass.contains("Bin") { return .stream }
        }
        return .stream
    }

    /// Whether an element upstream of the sink rotates pictures according to their tag: `videoflip`
    /// does, and passes the tag on unchanged.
    package var isTurnedByTag: Bool {
        upstream.contains { element in
            ["videoflip", "glvideoflip"].contains(element.factoryName)
                && mb_get_enum(element.pointer, "video-direction")
                    == gint(GST_VIDEO_ORIENTATION_AUTO.rawValue)
        }
    }
}

// MARK: Bit rate

extension AppSink {
    /// The bit rate of the video encoder from which the sink's units come; `nil` if there is none, or
    /// none that may change while it runs. Found by walking upstream through parsers and queues.
    package var encoderBitRate: EncoderBitRate? {
        for element in upstream {
            if element.klass.contains("Encoder") {
                return element.klass.contains("Video") ? EncoderBitRate(element) : nil
            }
            if element.klass.contains("Bin") || element.klass.contains("Decoder") { return nil }
        }
        return nil
    }
}

/// The bit rate of an encoder in a pipeline, which may change while it runs. Thread: any.
package struct EncoderBitRate: Sendable {
    private let element: Element
    private let property: String
    /// Bits per second in one unit of the property.
    private let unit: Int
    /// In bits per second, at the beginning.
    package let original: Int

    /// Properties by name, and encoders that take a change although their property does not say so.
    private static let properties = ["bitrate", "target-bitrate"]
    private static let changeable: Set = ["vp8enc", "vp9enc"]

    /// `nil` for an element without a bit rate that may change while it runs.
    fileprivate init?(_ element: Element) {
        let spec = element.specs.first { spec in
            g_param_spec_get_name(spec).map { Self.properties.contains(String(cString: $0)) }
                ?? false
        }
        guard let spec, let name = g_param_spec_get_name(spec),
            mb_spec_mutability(spec) == GST_STATE_PLAYING
                || Self.changeable.contains(element.factoryName)
        else { return nil }
        // Only the property's description names the unit.
        let text = g_param_spec_get_blurb(spec).map { String(cString: $0).lowercased() } ?? ""
        let isKilo = ["kbit", "kbps", "kilobit"].contains { text.contains($0) }
        self.element = element
        property = String(cString: name)
        unit = isKilo ? 1000 : 1
        let value = max(element.uint(property), element.int(property) ?? 0)
        // Zero means that the encoder decides.
        guard value > 0 else { return nil }
        original = value * unit
    }

    /// Makes the encoder keep to a bit rate from its next picture on.
    ///
    /// - Parameter bitRate: In bits per second.
    package func set(_ bitRate: Int) { element.set(property, "\(max(1, bitRate / unit))") }
}
