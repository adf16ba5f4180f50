internal import CMediaBridge
internal import Synchronization

/// A few elements that process one buffer at a time on the caller's thread: a converter, a scaler,
/// a flip. It uses no pipeline, thread or queue.
///
/// Thread: any; concurrent calls wait for each other.
package final class ElementChain: Sendable {
    /// Sendable: used only under the lock.
    private struct Parts: @unchecked Sendable {
        let bin: UnsafeMutablePointer<GstElement>
        let bus: UnsafeMutablePointer<GstBus>
        let entry: UnsafeMutablePointer<GstPad>
        let exit: UnsafeMutablePointer<GstPad>
    }
    private struct State {
        let parts: Parts
        var caps: Caps?
        var hasStarted = false
    }
    private let state: Mutex<State>
    private let outlet: Outlet
    private let text: String

    /// The output of the chain, until the caller takes it.
    private final class Outlet: Sendable {
        struct Slot: ~Copyable {
            /// The last buffer.
            var buffer: Buffer?
            var caps: Caps?
            /// The buffers before the last one, from elements that output several for one input.
            var earlier: [HeldBuffer] = []

            /// Moves the last buffer to the earlier ones.
            mutating func keepEarlierBuffer() {
                if let before = buffer.take(), let caps { earlier.append(HeldBuffer(before, caps)) }
            }

            /// Returns all buffers, and keeps none.
            mutating func takeAll() -> [HeldBuffer] {
                keepEarlierBuffer()
                defer { earlier = [] }
                return earlier
            }
        }
        let slot = Mutex(Slot())
    }

    /// Makes a chain.
    ///
    /// - Parameters:
    ///   - text: Elements in gst-launch syntax with one unlinked pad at each end. Trusted: must
    ///     come from the program, never from a user.
    ///   - caps: The output caps; `nil` to accept any caps that the elements produce.
    /// - Throws: ``PipelineError`` if an element is missing or the chain cannot be made.
    package init(_ text: String, to caps: Caps? = nil) throws(PipelineError) {
        try GStreamer.initialize()
        var error: UnsafeMutablePointer<GError>?
        let complete = caps == nil ? text : "\(text) ! capsfilter name=\(Self.filterName)"
        guard let bin = gst_parse_bin_from_description(complete, 1, &error), error == nil else {
            throw PipelineError(adopting: error)
        }
        if let caps {
            let filter = gst_bin_get_by_name(bin.cast(), Self.filterName).map {
                Element(adopting: $0)
            }
            filter?.set("caps", caps)
        }
        let element = bin.cast(to: GstElement.self)
        gst_object_ref_sink(element)
        let bus = gst_bus_new()!
        gst_element_set_bus(element, bus)
        let entry = gst_pad_new("entry", GST_PAD_SRC)!
        // A pad without a template accepts only the caps that are already set on it.
        let any = gst_caps_new_any()!
        let template = gst_pad_template_new("exit", GST_PAD_SINK, GST_PAD_ALWAYS, any)!
        mb_caps_unref(any)
        gst_object_ref_sink(template)
        let exit = gst_pad_new_from_template(template, "exit")!
        gst_object_unref(template)
        gst_object_ref_sink(entry)
        gst_object_ref_sink(exit)
        let outlet = Outlet()
        self.text = complete
        self.outlet = outlet
        state = Mutex(State(parts: Parts(bin: element, bus: bus, entry: entry, exit: exit)))
        mb_pad_set_functions(
            exit,
            { pad, _, buffer in
                guard let pad, let buffer else { return GST_FLOW_ERROR }
                let result = Buffer(adopting: buffer)
                ElementChain.outlet(of: pad)?.slot.withLock { slot in
                    slot.keepEarlierBuffer()
                    slot.buffer = result.retained()
                }
                return GST_FLOW_OK
            },
            { pad, _, event in
                guard let pad, let event else { return 0 }
                if event.pointee.type == GST_EVENT_CAPS {
                    var caps: UnsafeMutablePointer<GstCaps>?
                    gst_event_parse_caps(event, &caps)
                    let held = caps.map { Caps(retaining: $0) }
                    ElementChain.outlet(of: pad)?.slot.withLock { slot in
                        slot.keepEarlierBuffer()
                        slot.caps = held
                    }
                }
                gst_event_unref(event)
                return 1
            }, Unmanaged.context(outlet), SignalRelease.destroy)
        guard link(element, entry: entry, exit: exit) else {
            throw PipelineError(
                .linkFailed, message: "not a chain with one input and one output: \(text)")
        }
    }

    private static let filterName = "mediabridge-filter"

    private static func outlet(of pad: UnsafeMutablePointer<GstPad>) -> Outlet? {
        mb_pad_chain_context(pad).map { Unmanaged<Outlet>.ofContext($0).takeUnretainedValue() }
    }

    private func link(
        _ bin: UnsafeMutablePointer<GstElement>, entry: UnsafeMutablePointer<GstPad>,
        exit: UnsafeMutablePointer<GstPad>
    ) -> Bool {
        guard let sink = gst_element_get_static_pad(bin, "sink") else { return false }
        defer { gst_object_unref(sink) }
        guard let source = gst_element_get_static_pad(bin, "src") else { return false }
        defer { gst_object_unref(source) }
        return gst_pad_link(entry, sink) == GST_PAD_LINK_OK
            && gst_pad_link(source, exit) == GST_PAD_LINK_OK
            && gst_pad_set_active(exit, 1) != 0 && gst_pad_set_active(entry, 1) != 0
            && gst_element_set_state(bin, GST_STATE_PLAYING) == GST_STATE_CHANGE_SUCCESS
    }

    deinit {
        // These elements run no thread, so this does not block. Thread: any.
        state.withLock { state in
            let parts = state.parts
            gst_element_set_state(parts.bin, GST_STATE_NULL)
            gst_pad_set_active(parts.entry, 0)
            gst_pad_set_active(parts.exit, 0)
            gst_element_set_bus(parts.bin, nil)
            gst_object_unref(parts.entry)
            gst_object_unref(parts.bin)
            gst_object_unref(parts.exit)
            gst_object_unref(parts.bus)
        }
    }

    /// The output of a chain.
    @frozen
    package struct BufferWithCaps: ~Copyable {
        /// The processed buffer.
        package let buffer: Buffer
        /// The caps of ``buffer``.
        package let caps: Caps

        /// Combines a buffer with its caps.
        package init(buffer: consuming Buffer, caps: Caps) {
            self.buffer = buffer
            self.caps = caps
        }
    }

    /// Processes one buffer.
    ///
    /// - Throws: ``PipelineError`` with the message of the element that failed, also if there is no
    ///   output.
    package func process(
        _ buffer: consuming Buffer, caps: Caps
    ) throws(PipelineError) -> BufferWithCaps {
        guard let result = try processIfAny(buffer, caps: caps) else {
            throw failure(caps, GST_FLOW_OK)
        }
        return result
    }

    /// Processes one buffer with elements that may keep it until the next: a resampler.
    ///
    /// - Returns: The output, or `nil` if there is none yet.
    /// - Throws: ``PipelineError`` with the message of the element that failed.
    package func processIfAny(
        _ buffer: consuming Buffer, caps: Caps
    ) throws(PipelineError) -> BufferWithCaps? {
        var pending: Buffer? = buffer
        var flow = GST_FLOW_ERROR
        // The output is taken under the same lock; otherwise a concurrent caller could take it.
        let result = state.withLock { state -> BufferWithCaps? in
            if let taken = pending.take() { flow = push(taken, caps, after: nil, &state) }
            return outlet.slot.withLock { slot -> BufferWithCaps? in
                slot.earlier = []
                guard let buffer = slot.buffer.take(), let caps = slot.caps else { return nil }
                return BufferWithCaps(buffer: buffer, caps: caps)
            }
        }
        guard flow == GST_FLOW_OK else { throw failure(caps, flow) }
        return result
    }

    /// An output of a chain that may have several.
    package final class HeldBuffer: Sendable {
        /// The processed buffer.
        package let buffer: Buffer
        /// The caps of ``buffer``.
        package let caps: Caps

        fileprivate init(_ buffer: consuming Buffer, _ caps: Caps) {
            self.buffer = buffer
            self.caps = caps
        }
    }

    /// Processes one buffer with elements that output any number of buffers for it: an encoder or a
    /// decoder of audio.
    ///
    /// - Parameter gap: The gap before the buffer; `nil` if there is none.
    /// - Throws: ``PipelineError`` with the message of the element that failed.
    package func processAll(
        _ buffer: consuming Buffer, caps: Caps, after gap: (time: ClockTime, duration: ClockTime)?
    ) throws(PipelineError) -> [HeldBuffer] {
        var pending: Buffer? = buffer
        var flow = GST_FLOW_ERROR
        let output = state.withLock { state -> [HeldBuffer] in
            if let taken = pending.take() { flow = push(taken, caps, after: gap, &state) }
            return outlet.slot.withLock { $0.takeAll() }
        }
        guard flow == GST_FLOW_OK else { throw failure(caps, flow) }
        return output
    }

    /// Ends the stream: the elements output what they hold. Nothing can be processed afterwards.
    package func finish() -> [HeldBuffer] {
        state.withLock { state in
            guard state.hasStarted else { return [] }
            gst_pad_push_event(state.parts.entry, gst_event_new_eos())
            return outlet.slot.withLock { $0.takeAll() }
        }
    }

    private func push(
        _ buffer: consuming Buffer, _ caps: Caps,
        after gap: (time: ClockTime, duration: ClockTime)?, _ state: inout State
    ) -> GstFlowReturn {
        // What the elements posted about earlier buffers.
        while let message = gst_bus_pop(state.parts.bus) { gst_message_unref(message) }
        if state.caps?.identity != caps.identity { start(&state, caps) }
        if let gap {
            gst_pad_push_event(
                state.parts.entry, gst_event_new_gap(gap.time.raw, gap.duration.raw))
        }
        return gst_pad_push(state.parts.entry, buffer.release())
    }

    /// Sets a property of an element in the chain.
    package func set(_ property: String, _ value: String, of name: String) {
        state.withLock { state in
            gst_bin_get_by_name(state.parts.bin.cast(), name).map { Element(adopting: $0) }?
                .set(property, value)
        }
    }

    private func start(_ state: inout State, _ caps: Caps) {
        let entry = state.parts.entry
        if !state.hasStarted {
            gst_pad_push_event(entry, gst_event_new_stream_start("mediabridge"))
        }
        gst_pad_push_event(entry, gst_event_new_caps(caps.pointer))
        if !state.hasStarted {
            var segment = GstSegment()
            gst_segment_init(&segment, GST_FORMAT_TIME)
            gst_pad_push_event(entry, gst_event_new_segment(&segment))
        }
        state.hasStarted = true
        state.caps = caps
    }

    private func failure(_ caps: Caps, _ flow: GstFlowReturn) -> PipelineError {
        state.withLock { state in
            while let message = gst_bus_pop(state.parts.bus) {
                defer { gst_message_unref(message) }
                guard message.pointee.type == GST_MESSAGE_ERROR else { continue }
                return PipelineError(message)
            }
            let name =
                flow == GST_FLOW_OK
                ? "no buffer" : gst_flow_get_name(flow).map { String(cString: $0) } ?? "error"
            return PipelineError(
                .streamFailed, message: "\"\(text)\" does not accept \(caps) (\(name))",
                advice: caps.downloadAdvice)
        }
    }
}
