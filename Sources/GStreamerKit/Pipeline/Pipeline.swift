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
    let control: ControlQueue
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
