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
    ///   - eachAudioFrame: Returns the audio frame to pass on; `nil` drops it. Threads and errors as
    ///     for `eachFrame`, on another thread. Encoded audio is decoded for it. Default: none.
    /// - Throws: ``PipelineError``; the files are as complete as they can be.
    @discardableResult
    public static func run(
        capture: String, outputs: [String] = [], stopOn: StopSignals = [],
        eachFrame: @escaping @Sendable (VideoFrame) throws -> Void,
        eachAudioFrame: (@Sendable (consuming AudioFrame) throws -> AudioFrame?)? = nil
    ) async throws(PipelineError) -> BridgeReport {
        try await run(capture, outputs, stopOn, Observer(see: eachFrame), eachAudioFrame)
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
    ///   - eachAudioFrame: Returns the audio frame to pass on; `nil` drops it. Default: none.
    /// - Throws: ``PipelineError``; the files are as complete as they can be.
    @discardableResult
    public static func run(
        capture: String, outputs: [String] = [], stopOn: StopSignals = [],
        // Optional, so that a closure that returns nothing is never taken for one that returns a
        // frame.
        eachFrame: (@Sendable (consuming VideoFrame) throws -> VideoFrame?)?,
        eachAudioFrame: (@Sendable (consuming AudioFrame) throws -> AudioFrame?)? = nil
    ) async throws(PipelineError) -> BridgeReport {
        try await run(
            capture, outputs, stopOn, eachFrame.map { Changer(change: $0) }, eachAudioFrame)
    }

    /// Runs a bridge to its end, with or without closures that get its frames.
    ///
    /// ```swift
    /// try await Bridge.run(
    ///     capture: "pulsesrc", outputs: ["wavenc ! filesink location=quiet.wav"],
    ///     eachAudioFrame: { sound in
    ///         var sound = sound
    ///         try sound.withMutableSamples(as: Int16.self) { samples in
    ///             for index in samples.indices { samples[index] /= 2 }
    ///         }
    ///         return sound
    ///     })
    /// ```
    @_disfavoredOverload
    @discardableResult
    public static func run(
        capture: String, outputs: [String] = [], stopOn: StopSignals = [],
        eachFrame: (@Sendable (VideoFrame) throws -> Void)? = nil,
        eachAudioFrame: (@Sendable (consuming AudioFrame) throws -> AudioFrame?)? = nil
    ) async throws(PipelineError) -> BridgeReport {
        try await run(
            capture, outputs, stopOn, eachFrame.map { Observer(see: $0) }, eachAudioFrame)
    }

    private static func run(
        _ capture: String, _ outputs: [String], _ signals: StopSignals,
        _ processor: (any VideoProcessor & Sendable)?,
        _ eachAudioFrame: (@Sendable (consuming AudioFrame) throws -> AudioFrame?)?
    ) async throws(PipelineError) -> BridgeReport {
        var plan = BridgePlan(capture: capture, outputs: outputs)
        if let processor { plan.processors = [processor] }
        if let eachAudioFrame { plan.audioProcessors = [AudioChanger(change: eachAudioFrame)] }
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

    private struct AudioChanger: AudioProcessor {
        let change: @Sendable (consuming AudioFrame) throws -> AudioFrame?

        func process(_ frame: consuming AudioFrame) throws -> AudioFrame? { try change(frame) }
    }
}
