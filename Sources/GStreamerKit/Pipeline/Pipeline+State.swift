internal import CMediaBridge
internal import MediaBasics

extension Pipeline {
    /// How a state change went.
    public enum StateChange: Sendable {
        case complete
        /// It goes on by itself; ``BusMessage/asyncDone`` tells when it is complete.
        case underway
        /// Complete, and the pipeline is live: it gives no frame before PLAYING.
        case live
    }

    /// How long a state change may take unless a caller says otherwise: 8 s, multiplied by the
    /// environment's `MEDIABRIDGE_DEADLINE_FACTOR` where that is set.
    public static let stateDeadline = Duration.seconds(8).asDefaultDeadline

    /// Changes the state and suspends until the change is made or under way.
    ///
    /// - Throws: ``PipelineError``: what an element posted, or
    ///   ``PipelineError/Code/deadlineExceeded`` where the change is stuck.
    @discardableResult
    public func setState(
        _ state: PipelineState, deadline: Duration = stateDeadline
    ) async throws(PipelineError) -> StateChange {
        let change = change(to: state)
        let result = await control.run(within: deadline) { change() }
        return try verdict(result, state, deadline)
    }

    /// The same for callers that are control threads themselves: blocks, so never call it from the
    /// main actor, from a task, or from a streaming thread.
    @discardableResult
    public func setStateAndWait(
        _ state: PipelineState, deadline: Duration = stateDeadline
    ) throws(PipelineError) -> StateChange {
        let change = change(to: state)
        let result = control.runAndWait(within: deadline) { change() }
        return try verdict(result, state, deadline)
    }

    /// Asks for a state and does not wait: the change comes after those asked for before, and before
    /// those asked for later. For streaming threads too.
    ///
    /// - Parameter onOutcome: Told what ``setState(_:deadline:)`` would throw, and `nil` where it would
    ///   return, on a control thread or a timer's.
    public func requestState(
        _ state: PipelineState, deadline: Duration = stateDeadline,
        onOutcome: @escaping @Sendable (PipelineError?) -> Void = { _ in }
    ) {
        let verdict = { @Sendable [self] (result: GstStateChangeReturn?) in
            do throws(PipelineError) {
                _ = try self.verdict(result, state, deadline)
                onOutcome(nil)
            } catch {
                onOutcome(error)
            }
        }
        let limit = OneShotTimer(after: deadline) { verdict(nil) }
        let change = change(to: state)
        control.post {
            let result = change()
            limit.cancel()
            verdict(result)
        }
    }

    /// Brings the displays and devices that the pipeline ends in to READY, and nothing else: they say only
    /// then what they take. Files stay as they are, which sinks open and empty at READY.
    ///
    /// - Throws: As ``setState(_:deadline:)`` does.
    public func openDevices(deadline: Duration = stateDeadline) async throws(PipelineError) {
        let devices = elements.filter { element in
            ["Sink/Video", "Sink/Audio"].contains { element.klass.contains($0) }
        }
        guard !devices.isEmpty else { return }
        let result = await control.run(within: deadline) {
            devices.lazy.map { gst_element_set_state($0.pointer, GST_STATE_READY) }
                .first { $0 == GST_STATE_CHANGE_FAILURE } ?? GST_STATE_CHANGE_SUCCESS
        }
        _ = try verdict(result, .ready, deadline)
    }

    /// What makes the change; it holds the pipeline's handle, not the pipeline.
    ///
    /// While appsinks go to PLAYING nothing may enter them: a streaming thread that waits in one, for room or
    /// at the end for its samples to be taken, holds the lock that the change needs, and whoever takes
    /// samples may wait for the change.
    private func change(to state: PipelineState) -> @Sendable () -> GstStateChangeReturn {
        let entries = state == .playing ? appSinks.values.compactMap { $0.element.pad("sink") } : []
        return { [handle] in
            let gates = entries.map { $0.block() }
            defer { gates.forEach { $0.open() } }
            return gst_element_set_state(
                UnsafeMutableRawPointer(handle.pointer).assumingMemoryBound(to: GstElement.self),
                GstState(rawValue: UInt32(state.rawValue)))
        }
    }

    private func verdict(
        _ result: GstStateChangeReturn?, _ state: PipelineState, _ deadline: Duration
    ) throws(PipelineError) -> StateChange {
        switch result {
        case GST_STATE_CHANGE_SUCCESS?: return .complete
        case GST_STATE_CHANGE_ASYNC?: return .underway
        case GST_STATE_CHANGE_NO_PREROLL?: return .live
        case nil:
            throw PipelineError(
                .deadlineExceeded,
                message: "the change to \(state) is stuck: it took longer than \(deadline)",
                advice: "look for a device, disk or host that does not answer: \(text)")
        default:
            throw bus.failure
                ?? PipelineError(
                    .stateChangeFailed,
                    message: "the pipeline does not go to \(state) and says no reason: \(text)",
                    advice: "GST_DEBUG=3 shows which element refuses")
        }
    }

    /// The first error an element posted; `nil` while all is well.
    public var failure: PipelineError? { bus.failure }

    /// Whether the end of the stream has reached every sink.
    public var hasEnded: Bool { bus.hasEnded }

    /// Buffers that converters and decoders of this run left out because they would have come too late.
    public var skippedBuffers: Int { bus.skippedBuffers }

    /// Forgets errors and the end of an earlier run, before the next.
    public func forgetOutcome() {
        bus.reset()
        latePads.reset()
    }
}
