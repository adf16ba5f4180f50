internal import CMediaBridge
internal import Dispatch
internal import Glibc
internal import Synchronization

extension GStreamer {
    /// A pipeline made from a gst-launch string.
    ///
    /// Thread: every member may be called on any thread except a streaming thread. State changes run
    /// one after the other on the pipeline's own queue (the *control* zone), each with a deadline. When
    /// the last reference is released, the pipeline is set to NULL on that queue.
    public final class Pipeline: Sendable {
        /// Sendable: GstPipeline is thread-safe, and the pointer never changes.
        struct Handle: @unchecked Sendable {
            let pointer: UnsafeMutablePointer<GstPipeline>
        }
        let handle: Handle
        package let control: ControlQueue
        let bus: Bus
        /// Which elements may still get pads.
        package let latePads = LatePads()
        let queries = QueryGate()
        /// Set when the C object may be gone. Set and read only on the control queue.
        let ended = Ended()
        final class Ended: Sendable { let flag = Atomic<Bool>(false) }
        /// The string as it was parsed.
        public let text: String

        var pointer: UnsafeMutablePointer<GstPipeline> { handle.pointer }
        var element: UnsafeMutablePointer<GstElement> {
            pointer.cast()
        }
        var bin: UnsafeMutablePointer<GstBin> {
            pointer.cast()
        }

        /// Parses a gst-launch string. Everything that gst-launch only warns about is an error here,
        /// and a pipeline is never created in part.
        ///
        /// - Throws: ``PipelineError`` that says what is wrong and, for a missing element, names the
        ///   Debian package that contains it.
        package init(parsing text: String) throws(PipelineError) {
            let handle = Handle(pointer: try Self.parse(text))
            let control = ControlQueue(label: "mediabridge.control")
            self.handle = handle
            self.control = control
            self.text = text
            let ended = ended
            let latePads = latePads
            self.bus = Bus(onStreamsSelected: { latePads.completed($0) }) {
                control.post {
                    // An element may report a new latency while the pipeline is being torn down.
                    guard !ended.flag.load(ordering: .relaxed) else { return }
                    gst_bin_recalculate_latency(handle.pointer.cast())
                }
            }
            GStreamer.countAsLiving(handle.pointer)
            bus.attach(to: handle.pointer)
            let elements = elements
            let choice = LateLinkChoice.install(on: elements)
            for element in elements { LateLinks.watch(element, latePads, choice) }
            watchIndexes()
            dumpGraphs()
            if let refusal = Framebuffer.refusal(of: self) { throw refusal }
        }

        deinit {
            let handle = self.handle
            let ended = self.ended
            let end = change(to: .null)
            control.post {
                _ = end()
                let bus = gst_pipeline_get_bus(handle.pointer)
                gst_bus_set_sync_handler(bus, nil, nil, nil)
                gst_object_unref(bus)
                gst_object_unref(handle.pointer)
                ended.flag.store(true, ordering: .relaxed)
            }
        }
    }
}

/// `GStreamer.Pipeline` inside this package.
package typealias Pipeline = GStreamer.Pipeline

extension Pipeline {
    /// The bus's messages from now on. Each access creates an independent stream that gets every
    /// message; a reader that falls more than 256 messages behind loses the oldest.
    ///
    /// The first error is also kept in ``failure``, for late readers.
    package var messages: AsyncStream<BusMessage> {
        AsyncStream(bufferingPolicy: .bufferingNewest(256)) { continuation in
            let id = bus.listen { continuation.yield($0) }
            continuation.onTermination = { [bus] _ in bus.unlisten(id) }
        }
    }

    /// Calls `listener` with the first error of each run only: later errors are its consequences.
    /// Runs on the thread that posts the error; it must return at once.
    package func onFirstError(_ listener: @escaping @Sendable (PipelineError) -> Void) {
        _ = bus.listen { [weak bus] message in
            if case .error(let error) = message, bus?.failure == error { listener(error) }
        }
    }

    /// Posts a warning that no element posts. Thread: any.
    package func warn(_ warning: PipelineError) { bus.post(warning: warning) }

    /// Calls `listener` for every message, on the thread that posts it (usually a streaming
    /// thread): it must return at once. Stays registered for as long as the pipeline lives.
    package func onMessage(_ listener: @escaping @Sendable (BusMessage) -> Void) {
        _ = bus.listen(listener)
    }

    /// Reports every property change as ``BusMessage/property(_:)`` from now on, for as long as the
    /// pipeline lives: the negotiated caps of every pad, and the `last-message` of elements.
    package func watchProperties() {
        _ = gst_element_add_property_deep_notify_watch(element, nil, 1)
    }
}

extension Framebuffer {
    /// Returns the error for a pipeline that uses DirectFB's sink without a framebuffer; `nil` if
    /// the pipeline can be played.
    static func refusal(of pipeline: Pipeline) -> PipelineError? {
        guard !isThere, let element = pipeline.elements.first(where: { $0.factoryName == sink })
        else { return nil }
        return PipelineError(
            .resourceFailed, element: element.path,
            message: "\(sink) needs a framebuffer (/dev/fb0), and none can be opened",
            advice: "use autovideosink or ximagesink with a display (xvfb-run provides one), or "
                + "set DFBARGS=system=… to select another DirectFB system")
    }
}

// MARK: Elements

extension Pipeline {
    /// Returns the element of that name, at any depth; `nil` if there is none.
    public func element(named name: String) -> GStreamer.Element? {
        gst_bin_get_by_name(bin, name).map { Element(adopting: $0) }
    }

    /// All elements, at any depth, in no particular order.
    public var elements: [GStreamer.Element] { Element.all(of: gst_bin_iterate_recurse(bin)) }

    /// The sinks of the pipeline itself; an `autovideosink`, not the sink in it.
    var outerSinks: [Element] { Element.all(of: gst_bin_iterate_sinks(bin)) }

    /// All appsinks, by name.
    package var appSinks: [String: AppSink] {
        Dictionary(
            elements.compactMap { element in AppSink(element).map { (element.name, $0) } },
            uniquingKeysWith: { a, _ in a })
    }

    /// All appsrcs, by name.
    package var appSources: [String: AppSource] {
        Dictionary(
            elements.compactMap { element in
                AppSource(element, queries: queries).map { (element.name, $0) }
            },
            uniquingKeysWith: { a, _ in a })
    }

    /// Whether any source is live, for example a device or a test source with `is-live`. Only
    /// sources are queried: visualisers always report that they are live, even if their input is
    /// not. True if there is no source, or if a source does not answer the query.
    package var hasLiveSource: Bool {
        let answers = elements.compactMap { element -> Bool? in
            if element.bool("force-live") { return true }
            guard !element.klass.contains("Bin"), element.klass.contains("Source") else {
                return nil
            }
            return element.pad("src")?.latency()?.isLive ?? true
        }
        return answers.isEmpty || answers.contains(true)
    }
}

extension Pipeline {
    /// Whether its data comes from a connection and has no known end: that of a server or of another process,
    /// which may come back. Valid once data flows.
    package var isFedByConnection: Bool {
        let elements = elements
        let sources = elements.filter(\.readsConnection)
        guard !sources.isEmpty, queryDuration() == nil else { return false }
        // What has a known size then is a playlist or a segment.
        if elements.contains(where: { $0.klass.contains("Adaptive") }) { return true }
        return !sources.contains { source in
            var bytes: gint64 = -1
            _ = gst_element_query_duration(source.pointer, GST_FORMAT_BYTES, &bytes)
            return bytes >= 0
        }
    }
}

extension Element {
    /// Whether it is a source that reads from a server or from another process.
    package var readsConnection: Bool {
        klass.contains("Source/Network")
            || ["rtmpsrc", "shmsrc", "unixfdsrc"].contains(factoryName)
    }
}

// MARK: Graphs

extension Pipeline {
    /// Writes the pipeline's graph for each state it reaches and each error, as gst-launch does,
    /// into the directory that `GST_DEBUG_DUMP_DOT_DIR` names; does nothing if it is unset.
    func dumpGraphs() {
        guard let directory = getenv("GST_DEBUG_DUMP_DOT_DIR"), directory.pointee != 0 else {
            return
        }
        onMessage { [control, handle, ended] message in
            let moment: String
            switch message {
            case .stateChanged(let state): moment = "\(state)"
            case .error: moment = "error"
            default: return
            }
            control.post {
                guard !ended.flag.load(ordering: .relaxed) else { return }
                gst_debug_bin_to_dot_file_with_ts(
                    handle.pointer.cast(), GST_DEBUG_GRAPH_SHOW_ALL, "mediabridge.\(moment)")
            }
        }
    }

    /// The pipeline as a graph in the DOT language, with the present caps and properties.
    public var dot: String {
        String(adopting: gst_debug_bin_to_dot_data(bin, GST_DEBUG_GRAPH_SHOW_ALL)) ?? ""
    }
}

extension Pipeline {
    /// Corrects the edit lists of each present and later `qtdemux`.
    fileprivate func watchIndexes() {
        elements.forEach { EditedTracks.watch($0) }
        mb_on_deep_element_added(
            bin,
            { _, _, element, context in
                guard let element else { return }
                SignalListener<Element>.call(context, Element(retaining: element))
            }, SignalListener<Element>.context { EditedTracks.watch($0) }, SignalRelease.function)
    }
}
