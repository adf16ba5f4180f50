internal import CMediaBridge
internal import MediaBasics

/// GStreamer's four states.
package enum PipelineState: Int, Sendable, Comparable {
    /// No resources are held.
    case null = 1
    /// Devices and files are open; no data flows.
    case ready
    /// The first data has arrived, except from live sources; the clock stands still.
    case paused
    /// Data flows, and the clock runs.
    case playing

    /// Compares states in the order NULL, READY, PAUSED, PLAYING.
    package static func < (a: PipelineState, b: PipelineState) -> Bool { a.rawValue < b.rawValue }
}

extension Pipeline {
    /// The default deadline of a state change: 8 s, multiplied by the environment variable
    /// `MEDIABRIDGE_DEADLINE_FACTOR` if that is set.
    package static let stateDeadline = Duration.seconds(8).asDefaultDeadline

    /// The default deadline for opening displays and devices. On a machine without a GPU, autovideosink waits for
    /// kmssink, whose libdrm looks for devices for six seconds, and for longer if the machine is busy.
    package static let deviceDeadline = Duration.seconds(30).asDefaultDeadline

    /// Changes the state and suspends until the change is complete or continues asynchronously;
    /// ``BusMessage/asyncDone`` reports its completion then.
    ///
    /// - Throws: ``PipelineError``: the error that an element posted, or
    ///   ``PipelineError/Code/deadlineExceeded`` if the change does not return within `deadline`.
    package func setState(
        _ state: PipelineState, deadline: Duration = stateDeadline
    ) async throws(PipelineError) {
        let change = change(to: state)
        let result = await control.run(within: deadline) { change() }
        try check(result, state, deadline)
    }

    /// Changes the state like ``setState(_:deadline:)``, but blocks. For callers that are control
    /// threads themselves: never call it on the main actor, in a task, or on a streaming thread.
    package func setStateAndWait(
        _ state: PipelineState, deadline: Duration = stateDeadline
    ) throws(PipelineError) {
        let change = change(to: state)
        let result = control.runAndWait(within: deadline) { change() }
        try check(result, state, deadline)
    }

    /// Requests a state and returns at once. State changes are made in the order in which they are
    /// requested. May be called on a streaming thread too.
    ///
    /// - Parameters:
    ///   - state: The state to change to.
    ///   - deadline: How long the change may take. Default: ``stateDeadline``.
    ///   - onOutcome: Called with the error that ``setState(_:deadline:)`` would throw, or `nil` if
    ///     it would return, on a control thread or a timer's thread.
    package func requestState(
        _ state: PipelineState, deadline: Duration = stateDeadline,
        onOutcome: @escaping @Sendable (PipelineError?) -> Void = { _ in }
    ) {
        let verdict = { @Sendable [self] (result: GstStateChangeReturn?) in
            do throws(PipelineError) {
                try check(result, state, deadline)
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

    /// Sets the displays and devices at the end of the pipeline to READY: not before that state do
    /// they report the caps that they accept, and lend their memory. If the pipeline has no other
    /// sinks, all of it is set to READY. File sinks keep their state, because they open and
    /// truncate their files at READY.
    ///
    /// - Throws: The errors of ``setState(_:deadline:)``.
    package func openDevices(deadline: Duration = deviceDeadline) async throws(PipelineError) {
        let isDevice = { @Sendable (element: Element) in
            ["Sink/Video", "Sink/Audio"].contains { element.klass.contains($0) }
        }
        let devices = elements.filter(isDevice)
        guard !devices.isEmpty else { return }
        if outerSinks.allSatisfy(isDevice) {
            try await setState(.ready, deadline: deadline)
            return
        }
        let result = await control.run(within: deadline) {
            devices.lazy.map { gst_element_set_state($0.pointer, GST_STATE_READY) }
                .first { $0 == GST_STATE_CHANGE_FAILURE } ?? GST_STATE_CHANGE_SUCCESS
        }
        try check(result, .ready, deadline)
    }

    /// Returns a closure that makes the change; it holds the pipeline's handle, not the pipeline.
    ///
    /// While appsinks change to PLAYING, no buffer may enter them: a streaming thread that waits in
    /// an appsink, for queue space or at EOS for its samples to be pulled, holds the lock that the
    /// change needs, and the consumer of the samples may itself wait for the change.
    func change(to state: PipelineState) -> @Sendable () -> GstStateChangeReturn {
        let entries = state == .playing ? appSinks.values.compactMap { $0.element.pad("sink") } : []
        return { [handle, queries] in
            let blocks = entries.map { $0.block() }
            defer { blocks.forEach { $0.remove() } }
            let element = handle.pointer.cast(to: GstElement.self)
            if state == .null {
                queries.close()
                if !queries.isEmpty {
                    // At READY no element makes a query wait.
                    gst_element_set_state(element, GST_STATE_READY)
                    queries.waitUntilEmpty()
                }
            }
            let result = gst_element_set_state(element, GstState(rawValue: UInt32(state.rawValue)))
            if state != .null, result != GST_STATE_CHANGE_FAILURE { queries.open() }
            return result
        }
    }

    /// Throws unless the change is complete or continues asynchronously.
    private func check(
        _ result: GstStateChangeReturn?, _ state: PipelineState, _ deadline: Duration
    ) throws(PipelineError) {
        switch result {
        case GST_STATE_CHANGE_SUCCESS?, GST_STATE_CHANGE_ASYNC?, GST_STATE_CHANGE_NO_PREROLL?: break
        case nil:
            throw PipelineError(
                .deadlineExceeded,
                message: "the change to \(state) is stuck: it takes longer than \(deadline)",
                advice: "look for a device, disk or host that does not answer: \(text)")
        default:
            throw bus.failure
                ?? PipelineError(
                    .stateChangeFailed,
                    message: "the pipeline cannot change to \(state), for no known reason: \(text)",
                    advice: "set GST_DEBUG=3 to see which element fails")
        }
    }

    /// The first error that an element posted in this run; `nil` if there was none.
    public var failure: PipelineError? { bus.failure }

    /// Whether EOS has reached every sink.
    package var hasEnded: Bool { bus.hasEnded }

    /// Number of buffers that converters and decoders dropped in this run because they would have
    /// been late.
    package var skippedBuffers: Int { bus.skippedBuffers }

    /// Clears the errors and the EOS state of the last run, before the next one.
    package func clearOutcome() {
        bus.reset()
        latePads.reset()
    }
}

// MARK: Time

extension Pipeline {
    /// Sets the pipeline to the shared clock, with `baseTime` as running time zero. Permanent: no
    /// state change selects another clock or base time.
    package func useSharedClock(baseTime: ClockTime) {
        gst_pipeline_use_clock(pointer, SharedClock.clock)
        gst_element_set_start_time(element, ClockTime.none)
        gst_element_set_base_time(element, baseTime.raw)
    }

    /// Sets the pipeline to the shared clock; its running time zero is selected when it goes to
    /// PLAYING.
    package func useSharedClock() {
        gst_pipeline_use_clock(pointer, SharedClock.clock)
    }

    /// Makes shmsrc timestamp raw buffers on arrival if the string does not request it: the buffers have no
    /// timestamps, and are live.
    ///
    /// - Returns: The elements that were changed.
    package func timeArrivals() -> [Element] {
        let found = elements.filter { element in
            element.factoryName == "shmsrc" && !element.bool("do-timestamp")
                && element.pad("src")?.peerCaps?.isRaw == true
        }
        for element in found {
            gst_base_src_set_live(element.pointer.cast(), 1)
            gst_base_src_set_do_timestamp(element.pointer.cast(), 1)
        }
        return found
    }

    /// Makes elements that receive RTP note when the sender captured each buffer: see
    /// ``Buffer/captureTime``.
    package func noteCaptureTimes() {
        for element in elements { element.set("add-reference-timestamp-meta", "true") }
    }

    /// Queries the duration of the stream, as its container states it; `nil` if it is unknown.
    package func queryDuration() -> ClockTime? {
        var duration: gint64 = 0
        guard gst_element_query_duration(element, GST_FORMAT_TIME, &duration) != 0, duration >= 0
        else { return nil }
        return ClockTime(nanoseconds: UInt64(duration))
    }

    /// Queries how far the demuxers have read: the furthest position of any of their streams,
    /// whether it is captured or not; zero without a demuxer.
    ///
    /// - Returns: `nil` if a demuxer has an unlinked pad that does not answer position queries.
    package func positionOfDemuxers() -> ClockTime? {
        var furthest: UInt64 = 0
        for element in elements where element.klass.contains("Demux") {
            for pad in element.sourcePads {
                if let position = pad.queryPosition() {
                    furthest = max(furthest, position.nanoseconds)
                } else if !pad.isLinked {
                    return nil
                }
            }
        }
        return ClockTime(nanoseconds: furthest)
    }

    /// The time in the file of running time zero, if a demuxer's running times count from the first frame, as
    /// matroskademux's do, while the file may state its end from zero.
    package var startOfDemuxers: ClockTime {
        let starts = elements.filter { $0.factoryName == "matroskademux" }.flatMap { demuxer in
            demuxer.sourcePads.compactMap { $0.pointer.segment?.start }
        }
        return ClockTime(nanoseconds: starts.min().map { UInt64($0) } ?? 0)
    }

    /// The current setting of the shared clock's time at running time zero.
    package var baseTime: ClockTime {
        ClockTime(nanoseconds: UInt64(gst_element_get_base_time(element)))
    }

    /// Sets running time zero, in any state of the pipeline. Safe on a streaming thread.
    package func setBaseTime(_ baseTime: ClockTime) {
        gst_element_set_start_time(element, ClockTime.none)
        gst_element_set_base_time(element, baseTime.raw)
        // A bin passes its base time on when it changes state; elements that already play are set
        // here.
        for element in elements { gst_element_set_base_time(element.pointer, baseTime.raw) }
    }

    /// Sets running time zero to the present time if the pipeline is already PLAYING, because it
    /// did not wait for data. A pipeline that still waits selects its running time zero when the
    /// data arrives. Safe on a streaming thread.
    package func setBaseTimeToNowIfPlaying() {
        guard element.pointee.current_state == GST_STATE_PLAYING else { return }
        setBaseTime(SharedClock.now)
    }

    /// Sets the latency by which sinks delay every frame, instead of the sum that the elements
    /// report.
    package func setLatency(_ latency: ClockTime) {
        gst_pipeline_set_latency(pointer, latency.raw)
    }
}
