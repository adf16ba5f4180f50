internal import MediaBasics
internal import Synchronization

/// A capture pipeline and its branches. ``PipelineVideoSource`` and ``Bridge`` are built on it.
final class Capture: Sendable {
    /// Sources whose buffers are timestamped on arrival although the string does not request it.
    let timedByArrival: [Element]
    let pipeline: Pipeline
    /// The time base that its video and its audio share.
    let timeBase = MediaTimeBase()
    /// Sorted by name, with `video` first.
    let branches: [CaptureBranch]
    /// Whether the string has one stream and does not name it.
    let isUnnamed: Bool

    private struct Timing {
        var baseTime = ClockTime(nanoseconds: 0)
        var isKnown = false
        var live: LiveTiming?
        /// See ``Capture/canComeBack``.
        var canComeBack = false
    }
    private let timing = Mutex(Timing())
    /// Places the times of later runs behind those of the earlier ones.
    private let times: ContinuedTimes

    /// Opened by the end-of-stream message, when all streams have ended.
    let ending = Latch()
    private struct Course {
        var isUp = false
        /// Whether a run that delivered samples has ended and its files have not been checked yet.
        var hasToShow = false
        var isLeaving = false
    }
    private let course = Mutex(Course())
    /// Keeps the sessions with RTSP servers.
    private let sessions = Mutex<Heartbeat?>(nil)
    /// Less than half of the shortest timeout in use; usual are 60 s.
    private static let sessionInterval = Duration.seconds(4)

    /// Whether the capture was set to PLAYING and has not been ended since.
    var isUp: Bool {
        get { course.withLock { $0.isUp } }
        set { course.withLock { $0.isUp = newValue } }
    }

    /// Marks the capture as ended.
    ///
    /// - Returns: Whether it was up. Only one caller gets `true`.
    func markEnded() -> Bool {
        course.withLock { course in
            defer { course.isUp = false }
            return course.isUp
        }
    }

    /// Lets a feed fill the string's appsrcs, and counts what it drops. Called before the first run.
    func attach(_ feed: any CaptureFeed) {
        feed.attach(to: pipeline)
        for branch in branches { branch.translation.setFeed(feed) }
    }

    /// Whether the pipeline is being stopped and has no sinks other than its appsinks: an error that
    /// an element posts then loses nothing.
    var isLeaving: Bool { course.withLock { $0.isLeaving } }

    /// Stops the pipeline. An error that an element posts meanwhile is ignored if no data can be
    /// lost: for example, rtspsrc cannot end the session with a camera that is gone ("Could not send
    /// message").
    ///
    /// - Parameter state: READY or NULL.
    /// - Throws: ``PipelineError``: the pipeline hangs; or any error, if the capture has its own
    ///   sinks.
    func leave(to state: PipelineState = .null) async throws(PipelineError) {
        let isHarmless = !hasOwnSinks
        course.withLock { ($0.isUp, $0.isLeaving) = (false, isHarmless) }
        do throws(PipelineError) {
            try await pipeline.setState(state)
        } catch {
            if !isHarmless || error.code == .deadlineExceeded { throw error }
        }
    }

    /// Does the same as ``leave(to:)`` for control threads: blocks the caller.
    func leaveAndWait(to state: PipelineState) throws(PipelineError) {
        try ControlTask.blocking { [self] () async throws(PipelineError) in
            try await leave(to: state)
        }
    }

    /// - Parameters:
    ///   - depth: Maximum number of frames that wait in each branch.
    ///   - branch: Name of the branch if the string has only one and does not name it.
    ///   - referred: Names in the outputs that refer to elements of a capture: see
    ///     ``BridgedText/capture(_:branch:referred:)``.
    ///   - splits: Whether the first video and the first audio of an element whose streams become known
    ///     while data flows are captured.
    ///   - required: Names of the branches that must exist nevertheless.
    ///   - policy: What the string may do; `nil` allows anything.
    init(
        _ text: String, depth: Int, branch: String = BridgedText.defaultBranch,
        referred: Set<String> = [], splits: Bool = false, required: Set<String> = [],
        under policy: UntrustedPolicy? = nil
    ) throws(PipelineError) {
        let bridged = try BridgedText.capture(
            text, branch: branch, referred: referred, splits: splits)
        let pipeline = try bridged.parse(
            orExplain: "end the capture string in an element with a free source pad", under: policy)
        self.pipeline = pipeline
        timedByArrival = pipeline.timeArrivals()
        pipeline.noteCaptureTimes()
        pipeline.preferByteStreams()
        pipeline.copySharedMemory()
        pipeline.hideUndecodablePictures()
        isUnnamed = bridged.isUnnamed
        let sinks = pipeline.appSinks
        let times = ContinuedTimes()
        self.times = times
        branches = bridged.branches.compactMap { element, name in
            sinks[element].map {
                CaptureBranch(
                    name: name, sink: $0, depth: depth, isPaced: bridged.paced.contains(element),
                    times: times,
                    isOptional: bridged.splitElement != nil && !required.contains(name))
            }
        }.sorted { a, b in
            (a.name == BridgedText.defaultBranch ? 0 : 1, a.name)
                < (b.name == BridgedText.defaultBranch ? 0 : 1, b.name)
        }
        guard !branches.isEmpty else {
            throw PipelineError(.wrongEnds, message: "no appsink in: \(text)")
        }
        pipeline.onMessage { [weak self] message in
            switch message {
            case .error: self?.branches.forEach { $0.wake() }
            case .endOfStream: self?.ending.open()
            default: break
            }
        }
        pipeline.onMissedLink { [weak self] link in self?.missed(link) ?? false }
        pipeline.latePads.onComplete { [weak self] in self?.endUnfed() }
        for branch in branches {
            branch.connect(onFirstSample: { [weak self] in self?.firstSample(of: $0) })
        }
        bridged.splitElement.flatMap { pipeline.element(named: $0) }?.onSourcePad { [weak self] in
            self?.assign($0)
        }
        guard text.contains("rtsp") else { return }
        let queue = SerialQueue(label: "mediabridge.capture.sessions")
        let heartbeat = Heartbeat(every: Self.sessionInterval, on: queue) { [weak self] in
            if self?.isUp == true { self?.pipeline.keepSessions() }
        }
        sessions.withLock { $0 = heartbeat }
    }

    deinit { branches.forEach { $0.sever() } }

    func branch(_ name: String) -> CaptureBranch? { branches.first { $0.name == name } }

    /// Resets the state for a new run. Must be called before the pipeline leaves READY.
    func prepare() {
        pipeline.clearOutcome()
        ending.reset()
        course.withLock { $0 = Course() }
        branches.forEach { $0.reset() }
        times.reset()
        timeBase.begin()
        setTimeZero()
        endUnfed()
    }

    /// Resets the state for another run, whose times and counts continue those of the last. The
    /// pipeline must be at NULL.
    func prepareToResume() {
        pipeline.clearOutcome()
        ending.reset()
        course.withLock { $0 = Course() }
        // The times of a connection begin again.
        let now = MediaTime(SharedClock.now) - MediaTime(timing.withLock { $0.baseTime })
        times.restart(at: isLive == false ? now : nil)
        branches.forEach { $0.resumeDelivery() }
        pipeline.useSharedClock(baseTime: timing.withLock { $0.baseTime })
        endUnfed()
    }

    // MARK: Streams of a file

    /// Gives a new stream to the branch of its kind. The first of each kind is captured.
    private func assign(_ pad: Pad) {
        let type = pad.mediaType
        // Anything else is text or metadata.
        let isMedia = ["video/", "image/", "audio/"].contains { type.hasPrefix($0) }
        let kind = type.hasPrefix("audio/") ? BridgedText.audioBranch : BridgedText.defaultBranch
        if isMedia || type.isEmpty, let sink = branch(kind)?.sink.element.pad("sink"),
            pad.link(to: sink)
        {
            return
        }
        pipeline.warn(
            PipelineError(
                .streamFailed, element: pad.element?.path,
                message:
                    "the stream \(pad.name) (\(type)) is not captured: only the first video and "
                    + "the first audio are",
                advice: "name the element, and select pads: d.\(pad.name) ! queue ! appsink "
                    + "name=\(kind == BridgedText.audioBranch ? "audio2" : "…")")
        )
    }

    // MARK: Streams that never come

    /// Ends the branches that are not linked, once no more pads can appear: otherwise their readers
    /// would wait forever.
    private func endUnfed() {
        guard !pipeline.latePads.hasPendingElements else { return }
        for branch in branches where !branch.sink.isFed {
            branch.end(
                // If the capture has failed, its error is the reason.
                losing: pipeline.failure
                    ?? PipelineError(
                        .noFrames, element: branch.sink.element.path,
                        message:
                            "the stream \"\(branch.name)\" never appeared: nothing is linked to "
                            + "its appsink, and no element of the capture can add another pad",
                        advice:
                            "list the streams with gst-discoverer-1.0 or gst-launch-1.0 -v, and "
                            + "remove the branch of a stream that does not exist"))
        }
    }

    /// Ends the branches that a missed link leaves without data; the others go on.
    ///
    /// - Returns: False if no other branch is left, or if no branch depends on this link only.
    private func missed(_ link: MissedLink) -> Bool {
        let lost = branches.filter { $0.sink.unfedElement == link.receiver }
        guard !lost.isEmpty,
            branches.contains(where: { other in
                other.loss == nil && !lost.contains { $0 === other }
            })
        else { return false }
        for branch in lost {
            var error = link.error
            error.message = "the stream \"\(branch.name)\" never appeared: \(error.message)"
            branch.end(losing: error)
        }
        return true
    }

    /// Sets the time on the shared clock at which the capture's running time is zero. Must be
    /// called before PLAYING.
    func setTimeZero(_ baseTime: ClockTime = SharedClock.now) {
        timing.withLock { $0 = Timing(baseTime: baseTime) }
        pipeline.useSharedClock(baseTime: baseTime)
    }

    /// Whether the string itself limits the stream, which may then end before its container does.
    var isMeantToEndEarly: Bool {
        PipelineText(pipeline.text).words.contains {
            $0.hasPrefix("eos-after=") || $0.hasPrefix("num-buffers=")
        }
    }

    /// Whether the capture is live; `nil` before its first sample.
    var isLive: Bool? { timing.withLock { $0.isKnown ? $0.live != nil : nil } }

    /// Whether the capture can be started again after its end: it is live, or reads from a connection
    /// without a known end. `nil` before its first sample.
    var canComeBack: Bool? { timing.withLock { $0.isKnown ? $0.canComeBack : nil } }

    /// Returns the live timing, `nil` if the capture is not live; the first call decides. Called on
    /// the streaming thread with the first sample of each branch.
    private func firstSample(of branch: CaptureBranch) -> LiveTiming? {
        let known = timing.withLock { $0 }
        if known.isKnown { return known.live }
        let hasSource = pipeline.hasLiveSource
        let upstream = branches.map { $0.sink.upstreamLatency() }.filter { $0.isLive && hasSource }
        let isLive = !upstream.isEmpty
        let latency = upstream.map(\.latency).max() ?? ClockTime(nanoseconds: 0)
        let canComeBack = isLive || pipeline.isFedByConnection
        if canComeBack { times.begin() }
        return timing.withLock { timing in
            timing.isKnown = true
            timing.canComeBack = canComeBack
            timing.live =
                isLive
                ? LiveTiming(clockOrigin: MediaTime(timing.baseTime), latency: MediaTime(latency))
                : nil
            return timing.live
        }
    }
}

/// Ends a capture that also records, shows or sends its streams through its own sinks, in addition
/// to the appsinks that the program reads:
/// `… ! tee name=t t. ! … ! mp4mux ! filesink location=out.mp4 t. ! … ! appsink`.
extension Capture {
    /// Longest time without progress while such a capture ends.
    private static let stallTimeout = Duration.seconds(10).asDefaultDeadline

    /// The pipeline's sinks other than its appsinks.
    private var ownSinks: [Element] {
        let branches = branches.map(\.sink.element.path)
        return pipeline.sinks.filter { !branches.contains($0.path) }
    }

    /// Whether it records, shows or sends something by itself.
    var hasOwnSinks: Bool { !ownSinks.isEmpty }

    /// Whether end-of-stream must reach the capture's own sinks before the pipeline is stopped.
    var needsEnding: Bool { isUp && hasOwnSinks }

    /// Ends the streams at their sources and waits until the capture's own sinks have processed the
    /// end of stream. Must be called before the pipeline leaves PLAYING. Does nothing if the
    /// appsinks are the only sinks. The appsinks must not block meanwhile: their samples have to be
    /// taken or discarded.
    ///
    /// - Parameters:
    ///   - hasEnded: Whether the streams have ended by themselves. If so, sources that read files
    ///     are first left to reach the end of their files.
    ///   - isHurried: Asked repeatedly while those sources finish. `true` ends them at once.
    /// - Returns: What went wrong; `nil` also if the pipeline has failed, because it has reported
    ///   that error already.
    func finish(
        hasEnded: Bool, isHurried: @escaping @Sendable () -> Bool = { false }
    ) async -> PipelineError? {
        let sinks = markEnded() ? ownSinks : []
        guard !sinks.isEmpty else { return nil }
        defer { course.withLock { $0.hasToShow = arrivedSamples > 0 } }
        if hasEnded {
            pipeline.endSources(sparesFiles: true)
            let done = await isComplete(sinks) { isHurried() ? .zero : nil }
            if done { return nil }
        }
        pipeline.endSources()
        // A source that ignores the request never ends, so the wait is limited until all have
        // ended.
        let done = await isComplete(sinks) { [pipeline] in
            pipeline.haveSourcesEnded ? nil : Self.stallTimeout
        }
        guard !done, pipeline.failure == nil, !isUntouched(sinks) else { return nil }
        let late = sinks.first { !$0.hasReachedEnd } ?? sinks[0]
        return PipelineError(
            .deadlineExceeded, element: late.path,
            message: "\"\(late.name)\" in the capture did not finish: the end of the stream did "
                + "not reach it, and nothing was written for \(Self.stallTimeout)",
            advice: "look for a source that does not end, or a sink that waits for another stream: "
                + pipeline.text.onOneLine)
    }

    /// Does the same as `finish` for control threads: blocks the caller.
    func finishAndWait(hasEnded: Bool) -> PipelineError? {
        guard needsEnding else { return nil }
        return ControlTask.blocking { [self] in await finish(hasEnded: hasEnded) }
    }

    private func isComplete(
        _ sinks: [Element], within limit: @escaping @Sendable () -> Duration?
    ) async -> Bool {
        let unfed = branches.contains { !$0.sink.isFed }
        return await ProgressWait(signal: ending).wait(
            until: { [pipeline] in
                // If a sink is not linked or has failed, the pipeline posts no end-of-stream
                // message.
                pipeline.hasEnded
                    || (unfed || pipeline.failure != nil)
                        && sinks.allSatisfy { $0.hasReachedEnd || $0.refusesData }
            },
            movement: { [self] in
                sinks.reduce(arrivedSamples) { $0 + ($1.sinkStatistics?.rendered ?? 0) }
            },
            limits: { [self] in
                pipeline.failure != nil || isUntouched(sinks)
                    ? .afterError : ProgressWait.Limits(standing: Self.stallTimeout, inAll: limit())
            })
    }

    /// Whether no sample has reached any sink yet, so that there is nothing to complete.
    private func isUntouched(_ sinks: [Element]) -> Bool {
        arrivedSamples == 0 && !sinks.contains(where: \.hasBegun)
    }

    /// Samples that arrived at the appsinks.
    var arrivedSamples: Int { branches.reduce(0) { $0 + $1.arrivedSamples } }

    /// The error for a file that the run should have written and did not. Valid once the capture is
    /// stopped; only the first read returns it.
    var missingFile: PipelineError? {
        guard pipeline.failure == nil,
            course.withLock({ course in
                defer { course.hasToShow = false }
                return course.hasToShow
            })
        else { return nil }
        return pipeline.missingFile
    }
}
