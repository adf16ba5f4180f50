internal import CMediaBridge
internal import Synchronization

/// A pipeline's bus: every message is delivered to every listener, as a value, the moment it is
/// posted.
///
/// There is no main loop and no polling: the bus's synchronous handler takes messages on the thread
/// that posts them (usually a streaming thread).
final class Bus: Sendable {
    private struct State {
        var listeners: [Int: @Sendable (BusMessage) -> Void] = [:]
        var next = 0
        var missing: MissingPlugin?
        var failure: PipelineError?
        var ended = false
        /// By the element's address; the element lives as long as the pipeline.
        var skipped: [UInt: Int] = [:]
        var headers: [UInt: Int] = [:]
        var judge: (@Sendable (MissedLink) -> Bool)?
    }
    private let state = Mutex(State())
    /// Called to redistribute a changed latency, away from the posting thread.
    private let latencyChanged: @Sendable () -> Void
    /// Called with the address of an element that has exposed all selected streams.
    private let onStreamsSelected: @Sendable (UInt) -> Void

    init(
        onStreamsSelected: @escaping @Sendable (UInt) -> Void,
        latencyChanged: @escaping @Sendable () -> Void
    ) {
        self.onStreamsSelected = onStreamsSelected
        self.latencyChanged = latencyChanged
    }

    func filterMissedLinks(_ judge: @escaping @Sendable (MissedLink) -> Bool) {
        state.withLock { $0.judge = judge }
    }

    /// The first error that was posted since ``reset()``.
    var failure: PipelineError? { state.withLock { $0.failure } }

    /// Whether the end of the stream has been posted since ``reset()``.
    var hasEnded: Bool { state.withLock { $0.ended } }

    /// Number of buffers that elements upstream of the sinks have dropped since ``reset()`` because
    /// they would have been late: converters do so after a sink has sent them a QoS event.
    var skippedBuffers: Int { state.withLock { $0.skipped.values.reduce(0, +) } }

    /// Clears the outcome of the last run.
    func reset() {
        state.withLock {
            $0.failure = nil
            $0.ended = false
            $0.missing = nil
            ($0.skipped, $0.headers) = ([:], [:])
        }
    }

    /// Adds a listener and returns its id. It is called on the posting thread, and must return at
    /// once.
    func listen(_ listener: @escaping @Sendable (BusMessage) -> Void) -> Int {
        state.withLock { state in
            state.next += 1
            state.listeners[state.next] = listener
            return state.next
        }
    }

    func unlisten(_ id: Int) { _ = state.withLock { $0.listeners.removeValue(forKey: id) } }

    /// Receives all messages of `pipeline` from now on.
    func attach(to pipeline: UnsafeMutablePointer<GstPipeline>) {
        let bus = gst_pipeline_get_bus(pipeline)
        defer { gst_object_unref(bus) }
        mb_bus_set_sync_handler(
            bus,
            { _, message, context in
                if let message, let context {
                    Unmanaged<Bus>.ofContext(context)._withUnsafeGuaranteedRef { $0.take(message) }
                }
                if let message { gst_message_unref(message) }
                return GST_BUS_DROP
            }, Unmanaged.context(self), SignalRelease.destroy)
    }

    /// Posts an error that no element posts. Thread: any.
    func post(_ error: PipelineError) { spread(.error(error)) }

    /// Posts a warning that no element posts. Thread: any.
    func post(warning: PipelineError) { spread(.warning(warning)) }

    private func take(_ message: UnsafeMutablePointer<GstMessage>) {
        if let value = translate(message) { spread(value) }
    }

    private func spread(_ value: BusMessage) {
        let listeners = state.withLock { state in
            switch value {
            case .error(let error): if state.failure == nil { state.failure = error }
            case .endOfStream: state.ended = true
            default: break
            }
            return Array(state.listeners.values)
        }
        if case .latencyChanged = value { latencyChanged() }
        for listener in listeners { listener(value) }
    }

    private func translate(_ message: UnsafeMutablePointer<GstMessage>) -> BusMessage? {
        let source = message.pointee.src
        switch message.pointee.type {
        case GST_MESSAGE_EOS: return .endOfStream
        case GST_MESSAGE_ERROR: return .error(error(message, parse: gst_message_parse_error))
        case GST_MESSAGE_WARNING: return warning(message)
        case GST_MESSAGE_STREAMS_SELECTED:
            if let source { onStreamsSelected(UInt(bitPattern: source)) }
        case GST_MESSAGE_ASYNC_DONE: return .asyncDone
        case GST_MESSAGE_LATENCY: return .latencyChanged
        case GST_MESSAGE_STATE_CHANGED:
            guard mb_is_a(source, gst_pipeline_get_type()) != 0 else { return nil }
            var new = GST_STATE_NULL
            gst_message_parse_state_changed(message, nil, &new, nil)
            return PipelineState(rawValue: Int(new.rawValue)).map { .stateChanged($0) }
        case GST_MESSAGE_ELEMENT: return element(message)
        case GST_MESSAGE_TAG: return FoundTags(message).map { .tags($0) }
        case GST_MESSAGE_PROPERTY_NOTIFY: return .property(PropertyChange(message))
        case GST_MESSAGE_QOS: noteSkipped(message)
        default: break
        }
        return nil
    }

    private func warning(_ message: UnsafeMutablePointer<GstMessage>) -> BusMessage? {
        let warning = error(message, parse: gst_message_parse_warning)
        if let found = nothingFound(warning, message.pointee.src) { return found }
        guard warning.isMissedLink else { return .warning(warning) }
        let (judge, missing) = state.withLock { ($0.judge, $0.missing) }
        let link = MissedLink(
            warning, from: message.pointee.src.flatMap { Element(object: $0) }, missing)
        // The parser still waits for a pad although the receiver has been given one.
        if link.isMade { return .warning(warning) }
        return judge?(link) == true ? .warning(link.error) : .error(link.error)
    }

    /// Returns an error for the warning of an `autovideosink` or similar element that found no working device:
    /// it only warns, and discards its data. A missing audio output remains a warning, as for gst-launch-1.0.
    private func nothingFound(
        _ warning: PipelineError, _ source: UnsafeMutablePointer<GstObject>?
    ) -> BusMessage? {
        guard let element = source.flatMap({ Element(object: $0) }) else { return nil }
        var error = warning
        switch element.factoryName {
        case "autovideosink":
            error.message = "no working display: \(warning.message)"
            error.advice = PipelineError.displayAdvice
        case "autoaudiosink", "autoaudiosrc", "autovideosrc":
            let kind = element.factoryName.contains("audio") ? "audio device" : "camera"
            let isSink = element.factoryName == "autoaudiosink"
            error.message =
                "no working \(kind)\(isSink ? ", so no audio is played" : ""): \(warning.message)"
            error.advice = "name the element and its device; gst-device-monitor-1.0 lists both"
            if isSink { return .warning(error) }
        default: return nil
        }
        return .error(error)
    }

    /// Sinks are ignored: they keep their own count.
    private func noteSkipped(_ message: UnsafeMutablePointer<GstMessage>) {
        guard let source = message.pointee.src, mb_is_a(source, gst_base_sink_get_type()) == 0
        else { return }
        var (processed, dropped): (guint64, guint64) = (0, 0)
        gst_message_parse_qos_stats(message, nil, &processed, &dropped)
        // All ones means that the element does not count.
        guard dropped != .max else { return }
        var jitter: gint64 = 0
        gst_message_parse_qos_values(message, &jitter, nil, nil)
        state.withLock { state in
            let key = UInt(bitPattern: source)
            // Before the first picture, a decoder counts the headers as dropped.
            let isHeader = processed == 0 && jitter <= 0
            if isHeader { state.headers[key] = Int(clamping: dropped) }
            state.skipped[key] = Int(clamping: dropped) - (state.headers[key] ?? 0)
        }
    }

    private func error(
        _ message: UnsafeMutablePointer<GstMessage>, parse: PipelineError.MessageParser
    ) -> PipelineError {
        var failure = PipelineError(message, parse: parse, missing: state.withLock { $0.missing })
        if let element = message.pointee.src.flatMap({ Element(object: $0) }),
            let advice = element.advice(for: failure.code)
        {
            failure.advice = advice
        }
        if let file = file(of: message.pointee.src), !failure.description.contains(file) {
            failure.message = failure.message.trimmingSuffix(".\n ") + ": \"\(file)\""
        }
        return failure
    }

    /// Returns the file of a filesrc or filesink, or the address of an rtspsrc; `nil` for other elements: this
    /// runs on a streaming thread, and reading their properties might wait for a lock.
    private func file(of source: UnsafeMutablePointer<GstObject>?) -> String? {
        guard let source, let element = Element(object: source),
            ["filesink", "filesrc", "rtspsrc"].contains(element.factoryName)
        else { return nil }
        return element.string("location")
    }

    private func element(_ message: UnsafeMutablePointer<GstMessage>) -> BusMessage? {
        guard let structure = gst_message_get_structure(message) else { return nil }
        if gst_structure_has_name(structure, "missing-plugin") != 0 {
            let missing = missingPlugin(structure)
            state.withLock { $0.missing = missing }
        }
        guard let text = String(adopting: gst_structure_to_string(structure)) else { return nil }
        return .element(
            path: message.pointee.src.map { Element.path(of: $0) } ?? "", structure: text)
    }

    private func missingPlugin(_ structure: UnsafePointer<GstStructure>) -> MissingPlugin {
        let type = mb_structure_string(structure, "type").map { String(cString: $0) } ?? ""
        var detail = mb_structure_string(structure, "detail").map { String(cString: $0) } ?? ""
        if let value = gst_structure_get_value(structure, "detail"),
            let caps = gst_value_get_caps(value)
        {
            detail = Caps(retaining: UnsafeMutablePointer(mutating: caps)).mediaType
        }
        return MissingPlugin(kind: MissingPlugin.Kind(rawValue: type) ?? .other, name: detail)
    }
}

extension Element {
    /// Returns what to do if it cannot open or use its file, device or server; `nil` for other errors.
    fileprivate func advice(for code: PipelineError.Code) -> String? {
        let kind = klass
        if kind.contains("Network"), [.notFound, .resourceFailed, .streamFailed].contains(code) {
            return "check the address, and that a server listens there"
        }
        guard [.notFound, .resourceFailed].contains(code) else { return nil }
        if kind == "Sink/Video" || factoryName == "ximagesrc" { return PipelineError.displayAdvice }
        if ["filesrc", "filesink"].contains(factoryName), string("location") == nil {
            return "name the file: \(factoryName) location=…"
        }
        if kind.contains("Sink/File") {
            return "check that the directory exists and that you may write there"
        }
        if kind.contains("Source/File") {
            return code == .notFound
                ? "check the path" : "check that the path is a file that you may read"
        }
        guard kind.contains("Source") || kind.contains("Sink/Audio") else { return nil }
        return "check that the device is connected, is free, and that its server runs; "
            + "gst-device-monitor-1.0 lists the devices"
    }
}
