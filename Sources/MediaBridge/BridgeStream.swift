internal import Synchronization

/// One stream of a bridge: from a branch of a capture, through gate and processors, to every output
/// that takes it.
final class BridgeStream: CaptureReceiver {
    let name: String
    let branch: CaptureBranch
    private let gate: ConsumerGate
    private let takers: [OutputBranch]
    private let limits: BridgeLimits
    private let onEnd: @Sendable () -> Void
    private let onLimit: @Sendable (BridgeReport.End) -> Void
    private let onProblem: @Sendable (PipelineError) -> Void

    private let passed = Tally()
    private let drops = Mutex(DropCounts())
    private let hasEnded = Atomic<Bool>(false)

    init(
        name: String, branch: CaptureBranch, sinks: [BridgeOutput],
        processors: [any VideoProcessor],
        limits: BridgeLimits, onEnd: @escaping @Sendable () -> Void,
        onLimit: @escaping @Sendable (BridgeReport.End) -> Void,
        onProblem: @escaping @Sendable (PipelineError) -> Void
    ) {
        self.name = name
        self.branch = branch
        self.limits = limits
        self.onEnd = onEnd
        self.onLimit = onLimit
        self.onProblem = onProblem
        let takers = sinks.compactMap { $0.output.branches[name] }
        self.takers = takers
        let end = Self.end(of: takers)
        let chain: any VideoFrameConsumer =
            processors.isEmpty
            ? end
            : ProcessorChain(processors, to: end) { error in
                onProblem(
                    error as? PipelineError
                        ?? PipelineError(.elementFailed, message: "a filter failed: \(error)"))
            }
        gate = ConsumerGate(to: chain)
    }

    /// One output needs no fan-out.
    private static func end(of takers: [OutputBranch]) -> any VideoFrameConsumer {
        if takers.count == 1 { return takers[0] }
        let fanOut = FanOut()
        for taker in takers { fanOut.add(taker) }
        return fanOut
    }

    func open() { gate.open() }

    /// Lets the capture choose a format that every output takes, as two linked elements would; where
    /// there is none, outputs convert. With the capture at READY, when its devices are open.
    func negotiate() {
        let origin = branch.sink.formatOrigin
        let accepted = takers.compactMap(\.acceptedCaps)
        guard origin != .stream, let first = accepted.first else { return }
        let common = accepted.dropFirst().reduce(first) { $0.intersection($1) }
        guard !common.isEmpty, let offered = branch.sink.offeredCaps, !offered.isAny else { return }
        let possible = common.intersection(offered)
        guard !possible.isEmpty else { return }
        branch.sink.narrow(
            to: favourite(of: possible, origin).map { common.intersection($0) } ?? common)
    }

    /// The receiver's favourite, as in a link: it is the receiver that knows what is good for it. A
    /// converter finds what costs the stream least by itself; and of sound, receivers name the format
    /// of the fewest bits as readily as any.
    private func favourite(of possible: Caps, _ origin: AppSink.FormatOrigin) -> Caps? {
        guard origin == .source, possible.mediaType == "video/x-raw" else { return nil }
        return possible.preferredFormat.flatMap { format in
            try? Caps("video/x-raw, format=\(format)")
        }
    }

    /// Lets nothing more through.
    func close() { gate.close() }

    var isEnded: Bool { hasEnded.load(ordering: .acquiring) }

    /// Frames that passed, and those that did not.
    var counts: BridgeReport.Counts {
        var drops = self.drops.withLock { $0 }
        drops[.evicted] += branch.evictedSamples
        return BridgeReport.Counts(frames: passed.value, dropped: drops)
    }

    // MARK: CaptureReceiver

    func receive(_ frame: consuming VideoFrame) {
        let verdict = admit(frame.runningTime, isVideo: true)
        if verdict.passes { count(gate.consume(frame)) }
        if let end = verdict.end { onLimit(end) }
    }

    func receive(_ sample: MediaSample) {
        let verdict = admit(sample.runningTime, isVideo: false)
        if verdict.passes, gate.isOpen { pass(sample) }
        if let end = verdict.end { onLimit(end) }
    }

    private func pass(_ sample: MediaSample) {
        var result = FrameDisposition.dropped(.closed)
        for taker in takers {
            let disposition = taker.push(
                sample.buffer.retained(), caps: sample.caps, time: sample.runningTime,
                duration: nil, live: sample.liveTiming)
            if !result.isAccepted { result = disposition }
        }
        count(result)
    }

    func branchEnded() {
        // A muxer that still waits for this stream would hold up all others.
        takers.forEach { $0.endOfStream() }
        hasEnded.store(true, ordering: .releasing)
        onEnd()
    }

    private func admit(_ time: MediaTime?, isVideo: Bool) -> BridgeLimits.Verdict {
        guard let time else {
            drops.withLock { $0[.noTime] += 1 }
            if passed.value == 0 {
                onProblem(
                    PipelineError(
                        .noTime,
                        message:
                            "the stream \"\(name)\" carries no time, so nothing can be kept in order",
                        advice:
                            "a parser or decoder in the string, videorate, or do-timestamp=true on a live source"
                    ))
            }
            return BridgeLimits.Verdict(passes: false)
        }
        return limits.admit(time, countsFrames: isVideo)
    }

    private func count(_ disposition: FrameDisposition) {
        switch disposition {
        case .accepted: passed.add()
        case .dropped(.closed) where takers.isEmpty: passed.add()
        // After the stop, and after every output has ended: not lost, but not wanted.
        case .dropped(.notStarted), .dropped(.closed): break
        case .dropped(let cause): drops.withLock { $0[cause] += 1 }
        }
    }
}

/// Where a bridge ends by itself.
final class BridgeLimits: Sendable {
    private struct State {
        var frames = 0
        var first: MediaTime?
        var isReached = false
    }
    private let state = Mutex(State())
    private let frameLimit: Int?
    private let durationLimit: MediaTime?

    struct Verdict {
        /// Whether the frame is within the limits.
        var passes = true
        /// Set on the frame that reaches a limit: once it has passed, the bridge ends.
        var end: BridgeReport.End?
    }

    init(frames: Int?, duration: Duration?) {
        frameLimit = frames
        durationLimit = duration.map { MediaTime($0) }
    }

    /// Whether a frame due at `time` is still within the limits.
    func admit(_ time: MediaTime, countsFrames: Bool) -> Verdict {
        guard frameLimit != nil || durationLimit != nil else { return Verdict() }
        return state.withLock { state in
            guard !state.isReached else { return Verdict(passes: false) }
            let first = state.first ?? time
            state.first = first
            if let durationLimit, time - first >= durationLimit {
                // Sound may run a little ahead of the pictures: only they end the bridge.
                guard countsFrames || state.frames == 0 else { return Verdict(passes: false) }
                state.isReached = true
                return Verdict(passes: false, end: .duration)
            }
            guard countsFrames else { return Verdict() }
            state.frames += 1
            guard let frameLimit, state.frames >= frameLimit else { return Verdict() }
            state.isReached = true
            return Verdict(end: .frames)
        }
    }
}

/// An output of a bridge and its name.
struct BridgeOutput: Sendable {
    let name: String
    let output: Output
}
