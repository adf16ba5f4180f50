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
    /// Where properties are read and set. An element that blocks must not delay the end of a pipeline.
    let propertyQueue = ControlQueue(label: "mediabridge.properties")
    private let detection: Detection

    /// Loads the plan's plugins and parses every string; opens nothing yet.
    ///
    /// - Throws: ``PipelineError`` with GStreamer's message.
    public init(_ plan: BridgePlan) throws(PipelineError) {
        let plan = plan.withoutOptionalMarks()
        try plan.loadPlugins()
        let run = BridgeRun(plan)
        let parts = try plan.captureParts(in: run)
        let branches = parts.flatMap(\.streams)
        let names = branches.map(\.name)
        try plan.check(streams: names)
        let outputs = try plan.outputParts(
            streams: names, types: plan.types(of: branches), in: run)
        let detectors = try plan.detectors(streams: names)
        let recordings = try plan.recordingParts(streams: names, in: run)
        let detection = Detection(for: recordings.map(\.recorder)) { [run] in
            run.notify(.detected($0))
        } onFailure: { [run] in
            run.note($0)
        }
        let destinations = plan.destinations.map { BridgeDestinationOutput($0, streams: names) }
        let limits = BridgeLimits(frames: plan.frameLimit, duration: plan.durationLimit)
        let captures = parts.map(\.capture)
        self.run = run
        self.plan = plan
        self.limits = limits
        self.captures = captures
        self.outputs = outputs
        self.recordings = recordings
        self.destinations = destinations
        self.detection = detection
        restarts = parts.compactMap(\.restart)
        streams = parts.flatMap { part in
            part.streams.map { name, branch in
                BridgeStream(
                    name: name, branch: branch,
                    receivers: outputs.compactMap { $0.output.branches[name] }
                        + recordings.compactMap { $0.receiver(of: name) }
                        + destinations.compactMap { $0.receiver(of: name) },
                    processors: plan.processors(of: name),
                    analysis: detectors[name].map { StreamAnalysis($0, of: name, to: detection) },
                    limits: limits, restarts: part.restart, run: run,
                    isAnyLive: { captures.contains { $0.isLive == true } })
            }
        }
        for pipeline in pipelines {
            pipeline.onMessage { [run] message in
                // A missed link is reported as the failure of its stream.
                if case .warning(let warning) = message, !warning.isMissedLink {
                    run.notify(.warned(warning))
                }
            }
        }
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

    /// The problems and findings from now on, as soon as they occur. The sequence ends after ``run()``.
    public var events: EventSequence<BridgeEvent> { run.hub.subscribe() }

    /// Calls `listener` with every event, on the thread that reports it, so it must return at once. Must be called
    /// before ``run()``.
    package func onEvent(_ listener: @escaping @Sendable (BridgeEvent) -> Void) {
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
        for stream in streams {
            report.detectors.merge(stream.analysis?.counts ?? [:]) { $1 }
        }
        report.events = detection.events
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
        for stream in streams {
            await stream.analysis?.end(isHurried: run.isStopRequested || stream.branch.isLive)
        }
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
        run.hub.finish()
        return report
    }
}

extension BridgeOutput {
    /// The counts of `video` if the output takes it, otherwise of its first stream, with the drops
    /// of all streams.
    var counts: StreamCounts {
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
        return StreamCounts(
            frames: reports[name]?.frames ?? 0, dropped: drops, balance: balance,
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
