internal import CMediaBridge
internal import Dispatch
internal import Synchronization

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
    let latePads = LatePads()
    let queries = QueryGate()
    /// Set when the C object may be gone. Set and read only on the control queue.
    let ended = Ended()
    final class Ended: Sendable { let flag = Atomic<Bool>(false) }
    /// The string as it was parsed.
    public let text: String

    var pointer: UnsafeMutablePointer<GstPipeline> { handle.pointer }
    var element: UnsafeMutablePointer<GstElement> {
        UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: GstElement.self)
    }
    var bin: UnsafeMutablePointer<GstBin> {
        UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: GstBin.self)
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
        self.bus = Bus(
            former: FormerNames.advice(in: PipelineText(text)),
            onStreamsSelected: { latePads.completed($0) }
        ) {
            control.post {
                // An element may report a new latency while the pipeline is being torn down.
                guard !ended.flag.load(ordering: .relaxed) else { return }
                gst_bin_recalculate_latency(
                    UnsafeMutableRawPointer(handle.pointer).assumingMemoryBound(to: GstBin.self))
            }
        }
        GStreamer.countAsLiving(UnsafeMutableRawPointer(handle.pointer))
        bus.attach(to: handle.pointer)
        for element in elements { LateLinks.watch(element, latePads) }
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

extension Pipeline {
    /// The bus's messages from now on. Each access creates an independent stream that gets every
    /// message; a reader that falls more than 256 messages behind loses the oldest.
    ///
    /// The first error is also kept in ``failure``, for late readers.
    public var messages: AsyncStream<BusMessage> {
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

    /// Calls `listener` for every message, on the thread that posts it (usually a streaming
    /// thread): it must return at once. Stays registered for as long as the pipeline lives.
    public func onMessage(_ listener: @escaping @Sendable (BusMessage) -> Void) {
        _ = bus.listen(listener)
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
