internal import Glibc
internal import Synchronization

/// Connects captures to outputs, with Swift code in between, in one call.
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
/// A live capture never waits: slow outputs drop their oldest frames, which is counted. A file
/// waits for its slowest output and loses nothing. An output that fails does not affect the others;
/// one that cannot take the format of its first frame, or of any frame for one second, fails at
/// once.
///
/// What a capture's string records, shows or sends by itself, beside its appsinks, ends with the
/// streams. It is completed before ``run()`` returns, however the run ends.
///
/// A bridge can run once. Thread: any but a streaming thread.
public final class Bridge: Sendable {
    let captures: [Capture]
    let streams: [BridgeStream]
    let outputs: [BridgeOutput]
    let recordings: [BridgeRecording]
    let destinations: [BridgeDestinationOutput]
    let restarts: [CaptureRestarts]
    let run: BridgeRun
    let limits: BridgeLimits
    let plan: BridgePlan

    /// Parses every string; opens nothing yet.
    ///
    /// - Throws: ``PipelineError`` with GStreamer's message.
    public init(_ plan: BridgePlan) throws(PipelineError) {
        let plan = plan.withoutOptionalMarks()
        let run = BridgeRun(plan)
        self.run = run
        self.plan = plan
        var captures: [Capture] = []
        var branches: [(String, CaptureBranch)] = []
        var restarts: [CaptureRestarts] = []
        let referred = Set(plan.outputs.flatMap { PipelineText($0.text).unknownBeginnings })
        let elements = Set(plan.captures.flatMap { PipelineText($0.text).elementNames })
        let splits = plan.captures.count == 1 && plan.recordsBothKinds
        let required = Set(MediaKind.allCases.filter { plan.requires($0) }.map(\.rawValue))
            .union(
                plan.outputs.flatMap { output in
                    PipelineText(output.text).mentions(of: ["appsrc"]).compactMap(\.name)
                })
        for named in plan.captures {
            let capture = try named.locating { text throws(PipelineError) in
                try Capture(
                    text, depth: plan.captureConfiguration.depth, referred: referred,
                    splits: splits, required: required, under: plan.captureConfiguration.untrusted)
            }
            captures.append(capture)
            if let feed = plan.feeds[named.name] { capture.attach(feed) }
            let restart = try plan.restart.map { policy throws(PipelineError) in
                try CaptureRestarts(capture, name: named.name, policy: policy, run: run)
            }
            if let restart { restarts.append(restart) }
            let own = capture.branches.map { branch in
                let isOnly =
                    branch.name == BridgePlan.defaultCapture && capture.branches.count == 1
                return isOnly ? Self.name(of: capture, named.name, in: plan) : branch.name
            }
            branches += zip(own, capture.branches)
            let isOptional = plan.optionalStreams.isSuperset(of: own)
            capture.pipeline.onFirstError { [run, weak restart, weak capture] error in
                if capture?.isLeaving == true {
                    // After a failure, the stop itself may make an element fail.
                    if run.failures.isEmpty { run.warn(error) }
                    return
                }
                if restart?.takeOver(error) == true { return }
                if isOptional, let capture, capture.arrivedSamples == 0 {
                    return capture.branches.forEach { $0.end(losing: error) }
                }
                run.fail(error, of: .capture(named.name))
            }
        }
        let names = branches.map(\.0)
        if let twice = names.first(where: { name in names.count(where: { $0 == name }) > 1 }) {
            throw PipelineError(
                .wrongEnds, message: "two captures have a stream named \"\(twice)\"",
                advice: "name each appsink: appsink name=camera")
        }
        if let unknown = plan.streamProcessors.keys.sorted().first(where: { !names.contains($0) }) {
            throw PipelineError(
                .wrongEnds,
                message: "a filter is for the stream \"\(unknown)\", but the captures have only "
                    + Self.list(names),
                advice: "give the appsink the name of the stream: appsink name=\(unknown)")
        }
        let types = Self.types(of: branches, in: plan)
        // The report counts each under its name.
        let parts =
            plan.outputs.map(\.name) + plan.recordings.map(\.name) + plan.destinations.map(\.name)
        if let twice = parts.first(where: { name in parts.count(where: { $0 == name }) > 1 }) {
            throw PipelineError(
                .duplicateName, message: "two outputs are named \"\(twice)\"",
                advice: "give each output and each recording a different name")
        }
        var outputs: [BridgeOutput] = []
        if let unknown = plan.queues.keys.sorted().first(where: { name in
            !plan.outputs.contains { $0.name == name }
        }) {
            throw PipelineError(
                .wrongEnds,
                message: "a queue limit is given for \"\(unknown)\", which is no output",
                advice: plan.outputs.isEmpty
                    ? "add an output of that name"
                    : "one of: \(Self.list(plan.outputs.map(\.name)))")
        }
        for named in plan.outputs {
            var configuration = plan.outputConfiguration
            configuration.queue = plan.queues[named.name] ?? configuration.queue
            let output = try named.locating { text throws(PipelineError) in
                try Output(
                    text, configuration: configuration, streams: names, types: types,
                    elements: elements)
            }
            if let missing = output.branches.keys.sorted().first(where: { !names.contains($0) }) {
                throw PipelineError(
                    .wrongEnds,
                    message:
                        "output \"\(named.name)\" needs a stream \"\(missing)\", but the captures "
                        + "have only \(Self.list(names))",
                    advice: "give the appsink the name of the appsrc: appsink name=\(missing)")
            }
            try ClaimedFile.check(output.pipeline)
            outputs.append(BridgeOutput(name: named.name, output: output))
        }
        var recordings: [BridgeRecording] = []
        for recording in plan.recordings {
            recordings.append(try BridgeRecording(recording, streams: names))
        }
        let destinations = plan.destinations.map { BridgeDestinationOutput($0, streams: names) }
        let limits = BridgeLimits(frames: plan.frameLimit, duration: plan.durationLimit)
        self.limits = limits
        self.captures = captures
        self.restarts = restarts
        self.outputs = outputs
        self.recordings = recordings
        self.destinations = destinations
        streams = branches.map { name, branch in
            let takers: [any StreamTaker] =
                outputs.compactMap { $0.output.branches[name] }
                + recordings.compactMap { $0.taker(of: name) }
                + destinations.compactMap { $0.taker(of: name) }
            return BridgeStream(
                name: name, branch: branch, takers: takers, processors: plan.processors(of: name),
                limits: limits,
                restarts: restarts.first { $0.capture.branches.contains { $0 === branch } },
                run: run, isAnyLive: { [captures] in captures.contains { $0.isLive == true } })
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
            // The closures must not retain the output, which retains the pipeline that retains
            // them.
            let name = output.name
            pipeline.onFirstError { [run] error in run.outputEnded(name, error) }
            pipeline.onMessage { [run] message in
                if case .endOfStream = message { run.outputEnded(name, nil) }
            }
        }
        for pipeline in pipelines {
            pipeline.onMessage { [run] message in
                // A missed link is reported as the failure of its stream.
                if case .warning(let warning) = message, !warning.isMissedLink {
                    run.tell(.warned(warning))
                }
            }
        }
    }

    /// Returns the name of a stream: `audio` if the stream is not named and its string can deliver
    /// only audio.
    private static func name(
        of capture: Capture, _ name: String, in plan: BridgePlan
    ) -> String {
        guard capture.isUnnamed, name == BridgePlan.defaultCapture,
            capture.branches[0].sink.offeredCaps?.isSound == true
        else { return name }
        let isAskedFor = plan.outputs.contains { output in
            PipelineText(output.text).mentions(of: ["appsrc"]).contains { $0.name == name }
        }
        return isAskedFor ? name : BridgedText.audioBranch
    }

    /// Returns the media types of the streams, as far as their strings determine them.
    ///
    /// Streams that are decoded for processors are raw.
    private static func types(
        of branches: [(String, CaptureBranch)], in plan: BridgePlan
    ) -> [String: Caps] {
        var types: [String: Caps] = [:]
        for (name, branch) in branches {
            guard let kinds = branch.sink.offeredCaps?.kinds else { continue }
            types[name] = kinds
            if plan.processors(of: name).decode(kinds) {
                types[name] = try? Caps(kinds.isSound ? "audio/x-raw" : "video/x-raw").kinds
            }
        }
        return types
    }

    /// Returns the name of a stream in reports. If the string did not determine the kind of media,
    /// the samples that came do.
    private func reportedName(of stream: BridgeStream) -> String {
        guard stream.name == BridgePlan.defaultCapture, stream.carriesSound,
            !streams.contains(where: { $0.name == BridgedText.audioBranch }),
            captures.contains(where: { stream.belongs(to: $0) && $0.isUnnamed })
        else { return stream.name }
        return BridgedText.audioBranch
    }

    /// The recorders of the plan's recordings, in the same order.
    public var recorders: [Recorder] { recordings.map(\.recorder) }

    /// Asks the bridge to end: the files are completed, and ``run()`` returns with
    /// ``BridgeReport/End/interrupt``. Any thread.
    public func stop() { run.stop() }

    /// Calls `listener` with every problem as soon as it occurs, whether it ends the run or not.
    /// Runs on any thread, so it must return at once. Must be called before ``run()``.
    public func onEvent(_ listener: @escaping @Sendable (BridgeEvent) -> Void) {
        run.listen(listener)
    }

    /// The counts so far. Any thread.
    public var statistics: BridgeReport {
        var report = BridgeReport(
            captures: [:], outputs: [:], seconds: run.seconds, ended: nil, failures: [])
        for stream in streams where !stream.branch.isAbsent {
            var counts = stream.counts
            let capture = captures.first { stream.belongs(to: $0) }
            counts.failure =
                run.failure(of: .stream(stream.name))
                ?? capture.flatMap { run.failure(of: .capture(name(of: $0))) }
            report.captures[reportedName(of: stream)] = counts
        }
        for output in outputs { report.outputs[output.name] = output.counts }
        for recording in recordings { report.outputs[recording.name] = recording.counts }
        for output in destinations { report.outputs[output.name] = output.counts }
        for name in report.outputs.keys {
            report.outputs[name]?.failure = run.failure(of: .output(name))
        }
        return report
    }

    /// Returns the name of a capture in the plan.
    func name(of capture: Capture) -> String {
        zip(plan.captures, captures).first { $1 === capture }?.0.name ?? ""
    }

    /// Runs until the captures end, a limit is reached, ``stop()`` is called, the task is
    /// cancelled, or an error ends the run.
    ///
    /// A cancelled task ends the run as ``stop()`` does: the outputs' files are completed.
    ///
    /// A stream that ended without a frame is a failure in the report, however the run ended, and
    /// the other streams go on without it. So is a stream that an output takes and that had not begun
    /// when a limit ended the run, unless it is live and the others lasted for less than two seconds.
    /// A stream that had not begun when ``stop()`` ended the run is not a failure: its count is zero.
    ///
    /// - Returns: The report, with all failures. Files are as complete as they can be.
    public func run() async -> BridgeReport {
        await withTaskCancellationHandler {
            await runToEnd()
        } onCancel: {
            stop()
        }
    }

    private func runToEnd() async -> BridgeReport {
        run.expect(
            streams: streams.count,
            outputs: outputs.count + recordings.count + destinations.count)
        if await start() {
            let watch = BridgeStallWatch(self)
            await run.untilEnd()
            watch.end()
            for restart in restarts { await restart.end() }
        }
        run.stopClock()
        noteLostStreams()
        noteMissingTails()
        streams.forEach { $0.close() }
        outputs.forEach { $0.output.close() }
        streams.forEach { $0.branch.discardIfLive() }
        let others = captures.filter(\.needsEnding)
        await stop(captures.filter { !$0.needsEnding })
        // A capture that records or shows something by itself may end slowly, and must not delay the
        // outputs.
        async let isStopped: Void = stop(others)
        await finishOutputs()
        await isStopped
        streams.forEach { $0.branch.disconnect() }
        for stream in streams { await stream.endDecoding() }
        var report = statistics
        report.failures = run.failures
        report.ended = run.failures.isEmpty ? run.ending : .error
        return report
    }
}

extension BridgeOutput {
    /// The counts of `video` if the output takes it, otherwise of its first stream, with the drops
    /// of all streams.
    var counts: BridgeReport.Counts {
        let names = output.branches.keys.sorted()
        let name = names.first { $0 == BridgePlan.defaultCapture } ?? names[0]
        let reports = output.branches.mapValues { output.report(of: $0) }
        var drops = reports.values.map(\.dropped).reduce(DropCounts(), +)
        drops[.late] = output.lateFrames
        // Frames refused after the end, because of it, are not lost.
        drops[.closed] = 0
        var balance = reports.values.map(\.balance).reduce(FrameBalance(), +)
        balance.offered -= balance.dropped[.closed]
        balance.dropped[.closed] = 0
        return BridgeReport.Counts(
            frames: reports[name]?.written ?? 0, dropped: drops, balance: balance,
            bytes: output.writtenBytes)
    }
}

/// Further messages of GStreamer: what gst-launch-1.0 prints with `-v` and `-t`, and warnings.
extension Bridge {
    /// Calls `listener` with every property that changes in the pipelines of captures and outputs:
    /// the negotiated caps of every pad, and the `last-message` texts of elements.
    ///
    /// Runs on the thread that changes the property (usually a streaming thread), so it must return
    /// at once. Must be called before ``run()``. A recording's own encoders and muxers are not
    /// included.
    package func onPropertyChange(_ listener: @escaping @Sendable (PropertyChange) -> Void) {
        for pipeline in pipelines {
            pipeline.onMessage { message in
                if case .property(let change) = message { listener(change) }
            }
            pipeline.watchProperties()
        }
    }

    /// Calls `listener` with the tags that elements find and that reach the ends of pipelines. Runs
    /// on a streaming thread, so it must return at once. Must be called before ``run()``.
    package func onTags(_ listener: @escaping @Sendable (FoundTags) -> Void) {
        for pipeline in pipelines {
            pipeline.onMessage { message in if case .tags(let tags) = message { listener(tags) } }
        }
    }

    private var pipelines: [Pipeline] {
        captures.map(\.pipeline) + outputs.map(\.output.pipeline)
    }
}

extension Bridge {
    /// Names of the captures and outputs that write to the standard output of the process: with
    /// `fdsink`, or with a `filesink` whose file is the same as standard output's. The program must
    /// write nothing else there.
    package var writersToStandardOutput: [String] {
        let found = zip(plan.captures.map(\.name), captures.map(\.pipeline))
            .filter { $1.writesToStandardOutput }.map(\.0)
        return found + outputs.filter { $0.output.pipeline.writesToStandardOutput }.map(\.name)
    }
}

extension Pipeline {
    fileprivate var writesToStandardOutput: Bool {
        elements.contains { element in
            switch element.factoryName {
            case "fdsink": element.int("fd") == Int(STDOUT_FILENO)
            case "filesink": element.string("location").map { Self.isStandardOutput($0) } ?? false
            default: false
            }
        }
    }

    /// Whether a path is the file of standard output. False for `/dev/null`, where outputs cannot
    /// mix.
    private static func isStandardOutput(_ path: String) -> Bool {
        var file = stat()
        var output = stat()
        var null = stat()
        guard stat(path, &file) == 0, fstat(STDOUT_FILENO, &output) == 0 else { return false }
        if stat("/dev/null", &null) == 0, file.st_rdev == null.st_rdev, file.st_ino == null.st_ino {
            return false
        }
        return file.st_dev == output.st_dev && file.st_ino == output.st_ino
    }
}
