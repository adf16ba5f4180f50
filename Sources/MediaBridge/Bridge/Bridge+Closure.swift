// Runs a whole bridge in one call.
extension Bridge {
    /// Runs a bridge to its end.
    ///
    /// - Parameters:
    ///   - capture: A gst-launch string that delivers frames.
    ///   - outputs: gst-launch strings that take the frames. Default: none.
    ///   - stopOn: Signals that end the bridge, with the files complete: `.interrupt` for Ctrl-C. A
    ///     second signal ends the process. Default: none.
    ///   - eachFrame: Called with every frame of raw video before the outputs get it. Runs on one
    ///     thread at a time: the capture's streaming thread if it is a file, a delivery queue if it
    ///     is live. An error that it throws ends the bridge, with the files complete.
    /// - Throws: ``PipelineError``; the files are as complete as they can be.
    @discardableResult
    public static func run(
        capture: String, outputs: [String] = [], stopOn: StopSignals = [],
        eachFrame: @escaping @Sendable (VideoFrame) throws -> Void
    ) async throws(PipelineError) -> BridgeReport {
        try await run(capture, outputs, stopOn, Observer(see: eachFrame))
    }

    /// Runs a bridge to its end, through a closure that changes its frames.
    ///
    /// ```swift
    /// try await Bridge.run(
    ///     capture: "v4l2src ! videoconvert", outputs: ["autovideosink"]
    /// ) { frame in
    ///     var frame = frame
    ///     try frame.withMutablePlanes { planes in planes[0].fill(128) }
    ///     return frame
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - capture: A gst-launch string that delivers frames.
    ///   - outputs: gst-launch strings that take the frames. Default: none.
    ///   - stopOn: Signals that end the bridge, with the files complete. Default: none.
    ///   - eachFrame: Returns the frame to pass on, which may be a different one; `nil` drops the
    ///     frame, which is counted as ``DropCause/processor``. Threads and errors are the same as
    ///     for the closure that returns nothing.
    /// - Throws: ``PipelineError``; the files are as complete as they can be.
    @discardableResult
    public static func run(
        capture: String, outputs: [String] = [], stopOn: StopSignals = [],
        // Optional, so that a closure that returns nothing is never taken for one that returns a
        // frame.
        eachFrame: (@Sendable (consuming VideoFrame) throws -> VideoFrame?)?
    ) async throws(PipelineError) -> BridgeReport {
        try await run(capture, outputs, stopOn, eachFrame.map { Changer(change: $0) })
    }

    /// Runs a bridge to its end, with or without a closure that gets its frames.
    @_disfavoredOverload
    @discardableResult
    public static func run(
        capture: String, outputs: [String] = [], stopOn: StopSignals = [],
        eachFrame: (@Sendable (VideoFrame) throws -> Void)? = nil
    ) async throws(PipelineError) -> BridgeReport {
        try await run(capture, outputs, stopOn, eachFrame.map { Observer(see: $0) })
    }

    private static func run(
        _ capture: String, _ outputs: [String], _ signals: StopSignals,
        _ processor: (any VideoProcessor & Sendable)?
    ) async throws(PipelineError) -> BridgeReport {
        var plan = BridgePlan(capture: capture, outputs: outputs)
        if let processor { plan.processors = [processor] }
        return try await Bridge(plan).run(stopOn: signals).get()
    }

    /// Runs as ``run()`` does, and ends with ``BridgeReport/End/interrupt`` at the first of these
    /// signals. A second signal ends the process.
    public func run(stopOn signals: StopSignals) async -> BridgeReport {
        let trap = SignalTrap(signals) { [run] in run.stop() }
        await trap.untilSet()
        let report = await run()
        trap.release()
        return report
    }

    private struct Observer: VideoProcessor {
        let see: @Sendable (VideoFrame) throws -> Void

        func process(_ frame: consuming VideoFrame) throws -> VideoFrame? {
            try see(frame)
            return frame
        }
    }

    private struct Changer: VideoProcessor {
        let change: @Sendable (consuming VideoFrame) throws -> VideoFrame?

        func process(_ frame: consuming VideoFrame) throws -> VideoFrame? { try change(frame) }
    }
}
