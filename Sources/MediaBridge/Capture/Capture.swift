internal import Synchronization

/// A capture pipeline and its branches; what ``PipelineVideoSource`` and ``Bridge`` stand on.
final class Capture: Sendable {
    let pipeline: Pipeline
    /// What its pictures and its sound have in common.
    let timeBase = MediaTimeBase()
    /// By name; `video` first, then in alphabetical order.
    let branches: [CaptureBranch]
    /// Whether the string gives no name to its one stream.
    let isUnnamed: Bool

    private struct Timing {
        var baseTime = ClockTime(nanoseconds: 0)
        var isKnown = false
        var live: LiveTiming?
    }
    private let timing = Mutex(Timing())

    /// Opened by the end of all streams.
    let ending = Latch()
    private struct Course {
        var isUp = false
        var hasToShow = false
    }
    private let course = Mutex(Course())

    /// Whether it was set playing, and not ended since.
    var isUp: Bool {
        get { course.withLock { $0.isUp } }
        set { course.withLock { $0.isUp = newValue } }
    }

    /// - Returns: Whether it was up, and nobody else has ended it.
    func takeDown() -> Bool {
        course.withLock { course in
            defer { course.isUp = false }
            return course.isUp
        }
    }

    /// Whether a run that gave samples was ended, and what it wrote not looked at yet.
    var hasToShow: Bool {
        get { course.withLock { $0.hasToShow } }
        set { course.withLock { $0.hasToShow = newValue } }
    }

    /// - Parameters:
    ///   - depth: Frames that wait in each branch at most.
    ///   - branch: Names the branch of a string that has one and does not name it.
    ///   - policy: What the string may do; `nil` for anything.
    init(
        _ text: String, depth: Int, branch: String = BridgedText.defaultBranch,
        under policy: UntrustedPolicy? = nil
    ) throws(PipelineError) {
        let bridged = try BridgedText.capture(text, branch: branch)
        let pipeline = try bridged.parse(
            orExplain: "a capture string ends in an element with a free source pad", under: policy)
        self.pipeline = pipeline
        isUnnamed = bridged.isUnnamed
        let sinks = pipeline.appSinks
        branches = bridged.branches.compactMap { element, name in
            sinks[element].map {
                CaptureBranch(
                    name: name, sink: $0, depth: depth, isPaced: bridged.paced.contains(element))
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
        pipeline.onPadsComplete { [weak self] in self?.endUnfed() }
        for branch in branches {
            branch.connect(onFirstSample: { [weak self] in self?.firstSample(of: $0) })
        }
    }

    deinit { branches.forEach { $0.sever() } }

    func branch(_ name: String) -> CaptureBranch? { branches.first { $0.name == name } }

    /// Gets ready for a run. Before the pipeline leaves READY.
    func prepare() {
        pipeline.forgetOutcome()
        ending.reset()
        course.withLock { $0 = Course() }
        branches.forEach { $0.reset() }
        timeBase.begin()
        setTimeZero()
        endUnfed()
    }

    // MARK: Streams that never come

    /// Ends the branches that nothing is linked to, once nothing will be: whoever waits for them would
    /// wait for ever.
    private func endUnfed() {
        guard !pipeline.mayGetPads else { return }
        for branch in branches where !branch.sink.isFed {
            branch.end(
                // Where the capture failed for it, that is the reason.
                losing: pipeline.failure
                    ?? PipelineError(
                        .noFrames, element: branch.sink.element.path,
                        message:
                            "the stream \"\(branch.name)\" never came: nothing is linked to its "
                            + "appsink, and no element of the capture will have another pad",
                        advice:
                            "look at what there is: gst-discoverer-1.0 or gst-launch-1.0 -v tell; "
                            + "leave out the branch of a stream that is not there"))
        }
    }

    /// One branch is lost, and the others go on.
    ///
    /// - Returns: False where no other is left, or the link is that of no branch alone.
    private func missed(_ link: MissedLink) -> Bool {
        let lost = branches.filter { $0.sink.unfedElement == link.receiver }
        guard !lost.isEmpty,
            branches.contains(where: { other in
                other.loss == nil && !lost.contains { $0 === other }
            })
        else { return false }
        for branch in lost {
            var error = link.error
            error.message = "the stream \"\(branch.name)\" never came: \(error.message)"
            branch.end(losing: error)
        }
        return true
    }

    /// Makes a moment on the clock the capture's running time zero. Before PLAYING.
    func setTimeZero(_ baseTime: ClockTime = SharedClock.now) {
        timing.withLock { $0 = Timing(baseTime: baseTime) }
        pipeline.useSharedClock(baseTime: baseTime)
    }

    /// Whether the string itself ends the stream before its container does.
    var isMeantToEndEarly: Bool {
        PipelineText(pipeline.text).words.contains {
            $0.hasPrefix("eos-after=") || $0.hasPrefix("num-buffers=")
        }
    }

    /// Whether the capture is live; `nil` before its first sample.
    var isLive: Bool? { timing.withLock { $0.isKnown ? $0.live != nil : nil } }

    /// On the streaming thread, with the first sample of each branch.
    private func firstSample(of branch: CaptureBranch) -> LiveTiming? {
        let known = timing.withLock { $0 }
        if known.isKnown { return known.live }
        let hasSource = pipeline.hasLiveSource
        let upstream = branches.map { $0.sink.upstreamLatency() }.filter { $0.isLive && hasSource }
        let isLive = !upstream.isEmpty
        let latency = upstream.map(\.latency).max() ?? ClockTime(nanoseconds: 0)
        return timing.withLock { timing in
            timing.isKnown = true
            timing.live =
                isLive
                ? LiveTiming(clockOrigin: MediaTime(timing.baseTime), latency: MediaTime(latency))
                : nil
            return timing.live
        }
    }
}
