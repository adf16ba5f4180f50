internal import Synchronization

/// Captures, Swift in the middle, outputs: the whole way in one call.
///
/// ```swift
/// let report = try await Bridge.run(
///     capture: "videotestsrc num-buffers=60",
///     outputs: ["videoconvert ! x264enc ! matroskamux ! filesink location=out.mkv"]
/// ) { frame in
///     print(frame)
/// }
/// ```
///
/// A live capture never waits: outputs that are slow lose their oldest frames, which is counted. A file
/// waits for its slowest output, and loses nothing. An output that fails harms no other; one that cannot take
/// the format of its first frame, or of any for a second, fails at once.
///
/// What a capture's string records, shows or sends by itself, beside its appsinks, ends with the streams, and is
/// completed before ``run()`` returns, however the run ends.
///
/// One run for each bridge. Thread: any but a streaming thread.
public final class Bridge: Sendable {
    let captures: [Capture]
    let streams: [BridgeStream]
    let outputs: [BridgeOutput]
    let recordings: [BridgeRecording]
    let run: BridgeRun
    let plan: BridgePlan

    /// Parses every string; opens nothing yet.
    ///
    /// - Throws: ``PipelineError`` in GStreamer's words.
    public init(_ plan: BridgePlan) throws(PipelineError) {
        let run = BridgeRun()
        self.run = run
        self.plan = plan
        var captures: [Capture] = []
        var branches: [(String, CaptureBranch)] = []
        for named in plan.captures {
            let capture = try named.locating { text throws(PipelineError) in
                try Capture(
                    text, depth: plan.captureConfiguration.depth,
                    under: plan.captureConfiguration.untrusted)
            }
            captures.append(capture)
            capture.pipeline.onFirstError { [run] error in run.fail(error) }
            for branch in capture.branches {
                let isOnly = branch.name == BridgePlan.defaultCapture && capture.branches.count == 1
                branches.append(
                    (isOnly ? Self.name(of: capture, named.name, in: plan) : branch.name, branch))
            }
        }
        let names = branches.map(\.0)
        if let twice = names.first(where: { name in names.count(where: { $0 == name }) > 1 }) {
            throw PipelineError(
                .wrongEnds, message: "two captures give a stream of the name \"\(twice)\"",
                advice: "name each appsink: appsink name=camera")
        }
        let types = Self.types(of: branches)
        var outputs: [BridgeOutput] = []
        for named in plan.outputs {
            guard !outputs.contains(where: { $0.name == named.name }) else {
                throw PipelineError(
                    .duplicateName, message: "two outputs of the name \"\(named.name)\"",
                    advice: "give each output a name of its own")
            }
            let output = try named.locating { text throws(PipelineError) in
                try Output(
                    text, configuration: plan.outputConfiguration, streams: names, types: types)
            }
            if let missing = output.branches.keys.sorted().first(where: { !names.contains($0) }) {
                throw PipelineError(
                    .wrongEnds,
                    message:
                        "output \"\(named.name)\" wants a stream \"\(missing)\", and the captures "
                        + "give \(names.joined(separator: ", "))",
                    advice: "name the appsink like the appsrc: appsink name=\(missing)")
            }
            outputs.append(BridgeOutput(name: named.name, output: output))
        }
        var recordings: [BridgeRecording] = []
        for recording in plan.recordings {
            recordings.append(try BridgeRecording(recording, streams: names))
        }
        let limits = BridgeLimits(frames: plan.frameLimit, duration: plan.durationLimit)
        self.captures = captures
        self.outputs = outputs
        self.recordings = recordings
        streams = branches.map { name, branch in
            let takers: [any StreamTaker] =
                outputs.compactMap { $0.output.branches[name] }
                + recordings.compactMap { $0.taker(of: name) }
            return BridgeStream(
                name: name, branch: branch, takers: takers, processors: plan.processors,
                limits: limits, onEnd: { [run] in run.streamEnded() },
                onLimit: { [run] in run.end($0) }, onProblem: { [run] in run.fail($0) },
                onLoss: { [run] in run.note($0) })
        }
        for recording in recordings {
            let name = recording.name
            recording.recorder.onEvent { [run] event in
                switch event {
                case .failed(let error): run.outputEnded(name, error)
                case .diskNearlyFull(let free): run.outputEnded(name, .nearlyFull(free))
                default: break
                }
            }
        }
        for output in outputs {
            let pipeline = output.output.pipeline
            output.output.failsForFormat()
            // Not the output itself, which holds the pipeline that holds these.
            let name = output.name
            pipeline.onFirstError { [run] error in run.outputEnded(name, error) }
            pipeline.onMessage { [run] message in
                if case .endOfStream = message { run.outputEnded(name, nil) }
            }
        }
        for pipeline in captures.map(\.pipeline) + outputs.map(\.output.pipeline) {
            Self.tellWarnings(of: pipeline, run)
        }
    }

    /// A stream that nobody named is `audio` where its string can give nothing but sound.
    private static func name(
        of capture: Capture, _ name: String, in plan: BridgePlan
    ) -> String {
        guard capture.isUnnamed, name == BridgePlan.defaultCapture,
            capture.branches[0].sink.offeredCaps?.mediaType.hasPrefix("audio/") == true
        else { return name }
        let isAskedFor = plan.outputs.contains { output in
            PipelineText(output.text).mentions(of: ["appsrc"]).contains { $0.name == name }
        }
        return isAskedFor ? name : BridgedText.audioBranch
    }

    /// What streams carry, as far as their strings tell.
    private static func types(of branches: [(String, CaptureBranch)]) -> [String: Caps] {
        var types: [String: Caps] = [:]
        for (name, branch) in branches {
            if let kinds = branch.sink.offeredCaps?.kinds { types[name] = kinds }
        }
        return types
    }

    /// Where the string could not tell, what came does.
    private func reportedName(of stream: BridgeStream) -> String {
        guard stream.name == BridgePlan.defaultCapture, stream.carriesSound,
            !streams.contains(where: { $0.name == BridgedText.audioBranch }),
            captures.contains(where: { stream.belongs(to: $0) && $0.isUnnamed })
        else { return stream.name }
        return BridgedText.audioBranch
    }

    /// What the recordings of the plan tell, in its order.
    public var recorders: [Recorder] { recordings.map(\.recorder) }

    /// Asks the bridge to end: the files are completed, and ``run()`` returns with
    /// ``BridgeReport/End/interrupt``. Any thread.
    public func stop() { run.stop() }

    /// Calls `listener` with everything that goes wrong, the moment it does: what ends the run, and what
    /// does not. On any thread, so it must return at once. Before ``run()``.
    public func onEvent(_ listener: @escaping @Sendable (BridgeEvent) -> Void) {
        run.listen(listener)
    }

    /// The counts so far. Any thread.
    public var statistics: BridgeReport {
        var report = BridgeReport(
            captures: [:], outputs: [:], seconds: run.seconds, ended: nil, failures: [])
        for stream in streams { report.captures[reportedName(of: stream)] = stream.counts }
        for output in outputs { report.outputs[output.name] = output.counts }
        for recording in recordings { report.outputs[recording.name] = recording.counts }
        return report
    }

    /// Runs to the end of the captures, to a limit, to ``stop()``, to the cancellation of the task, or
    /// to an error.
    ///
    /// A cancelled task ends the run as ``stop()`` does: what the outputs have is completed.
    ///
    /// A stream that ended without a frame is a failure of the report, however the run ended, and the
    /// other streams go on without it. One that had not begun when a limit or ``stop()`` ended the run
    /// is none: its count is zero.
    ///
    /// - Returns: What was done, with everything that went wrong. Files are as complete as they can be.
    public func run() async -> BridgeReport {
        await withTaskCancellationHandler {
            await runToEnd()
        } onCancel: {
            stop()
        }
    }

    private func runToEnd() async -> BridgeReport {
        run.expect(streams: streams.count, outputs: outputs.count + recordings.count)
        if await start() {
            let watch = StallWatch(self)
            await run.untilEnd()
            watch.end()
        }
        run.stopClock()
        noteLostStreams()
        noteMissingTails()
        streams.forEach { $0.close() }
        outputs.forEach { $0.output.close() }
        streams.forEach { $0.branch.discardIfLive() }
        let (plain, others) = sortedCaptures
        await stop(plain)
        // A capture that takes its time for its end holds up no output.
        async let isStopped: Void = stop(others)
        await finishOutputs()
        await isStopped
        streams.forEach { $0.branch.disconnect() }
        var report = statistics
        report.failures = run.failures
        report.ended = run.failures.isEmpty ? run.ending : .error
        return report
    }
}

extension BridgeOutput {
    /// Those of `video` where the output takes it, with the drops of every stream.
    var counts: BridgeReport.Counts {
        let names = output.branches.keys.sorted()
        let name = names.first { $0 == BridgePlan.defaultCapture } ?? names[0]
        let reports = output.branches.mapValues { output.report(of: $0) }
        var drops = reports.values.map(\.dropped).reduce(DropCounts(), +)
        drops[.late] = output.lateFrames
        // Refused after the end, by the end itself: not lost.
        drops[.closed] = 0
        var balance = reports.values.map(\.balance).reduce(FrameBalance(), +)
        balance.offered -= balance.dropped[.closed]
        balance.dropped[.closed] = 0
        return BridgeReport.Counts(
            frames: reports[name]?.written ?? 0, dropped: drops, balance: balance,
            bytes: output.writtenBytes)
    }
}
