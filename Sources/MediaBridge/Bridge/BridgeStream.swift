internal import Synchronization

/// One stream of a bridge: from a branch of a capture, through the processors, to every output that
/// takes it, all on the thread that delivers the frame.
final class BridgeStream: MediaReceiver {
    let name: String
    let branch: CaptureBranch
    private let processors: StreamProcessors
    private let receivers: [any MediaReceiver]
    /// The branch to the detectors; `nil` if there are none.
    let analysis: StreamAnalysis?
    /// Whether frames are passed on: from ``open()`` to ``close()``.
    private let isOpen = Atomic<Bool>(false)
    private let limits: BridgeLimits
    private let restarts: CaptureRestarts?
    /// Decodes encoded media for the processors.
    private let decoding = Mutex<BridgeDecoding?>(nil)
    private let run: BridgeRun

    private let passed = SingleWriterCounter()
    private let isSound = Atomic<Bool>(false)
    private let drops = Mutex(DropCounts())
    /// Samples that came after a limit, after the stop, or after the end of every output; and
    /// headers.
    private let unwanted = Atomic<Int>(0)
    /// Whether an output takes bytes without caps; `nil` until the first arrived.
    private let acceptsBytes = Mutex<Bool?>(nil)
    private let end = Atomic<Int64>(0)
    /// The time of the last frame that passed.
    private let lastTime = Atomic<Int64>(0)
    /// The time of the latest sample.
    private let latest = Atomic<Int64>(0)
    /// Whether a sample with a time has come.
    private let hasBegun = Atomic<Bool>(false)
    /// Whether the next sample is the first of a capture that was started again.
    private let isInterrupted = Atomic<Bool>(false)
    /// The outages that are over.
    private let outages = Mutex(Outages())

    private struct Outages {
        var count = 0
        var duration = Duration.zero
    }

    init(
        name: String, branch: CaptureBranch, receivers: [any MediaReceiver],
        processors: StreamProcessors, analysis: StreamAnalysis?,
        limits: BridgeLimits, restarts: CaptureRestarts?, run: BridgeRun,
        isAnyLive: @escaping @Sendable () -> Bool
    ) {
        self.name = name
        self.branch = branch
        self.limits = limits
        self.restarts = restarts
        self.run = run
        self.receivers = receivers
        self.processors = processors
        self.analysis = analysis
        limits.add(name) { [branch, run, isTaken = !receivers.isEmpty] in
            guard isTaken, !branch.isLive, !branch.isEnded else { return false }
            // A stream that had this much time, or the time of live streams, to begin is missing.
            return branch.arrivedSamples > 0
                || !isAnyLive() && run.seconds < BridgeStallWatch.waitLimit.seconds
        }
        guard !isDirect else { return }
        let decoding = BridgeDecoding(to: self, for: processors, in: run)
        self.decoding.withLock { $0 = decoding }
    }

    /// Whether an output or a recording takes it.
    var isTaken: Bool { !receivers.isEmpty }

    /// Whether a processor or a detector sees its frames.
    var isObserved: Bool { !processors.isEmpty || analysis != nil }

    /// Begins to receive from the branch.
    func connect() { branch.push(to: decoding.withLock { $0 } ?? self) }

    /// Ends what decodes, if anything does. Called after the end of the run.
    func endDecoding() async { await decoding.withLock { $0 }?.end() }

    /// Whether frames go from the capture to the outputs and nowhere else.
    private var isDirect: Bool { processors.isEmpty }

    func open() { isOpen.store(true, ordering: .releasing) }

    /// Makes the capture choose a format that every output takes, as two linked elements would; if
    /// there is none, the outputs convert. Called with the capture and the outputs at READY, when
    /// their devices are open.
    ///
    /// A demuxer has no pads yet: only those whose media type the outputs take will be linked.
    func negotiate() {
        // A program that keeps frames must not keep the few buffers of a display.
        if isDirect, receivers.count == 1, analysis == nil {
            receivers[0].lendMemory(to: branch.sink)
        }
        let accepted = receivers.compactMap(\.acceptedCaps)
        let offered = branch.sink.offeredCaps.flatMap { $0.isAny ? nil : $0 }
        let preferred = receivers.compactMap(\.preferredCaps).first.flatMap { preferred in
            branch.sink.canChoose(preferred) ? preferred : nil
        }
        guard let first = accepted.first else {
            if let preferred { branch.sink.narrow(to: preferred) }
            return
        }
        var common = accepted.dropFirst().reduce(first) { $0.intersection($1) }
        if let preferred, let offered, case let liked = common.intersection(preferred),
            !liked.intersection(offered).isEmpty
        {
            common = liked
        }
        guard !common.isEmpty else { return }
        // If the stream itself decides on the format of raw frames, they are converted behind it.
        // An encoded stream is negotiated, because encoders and parsers produce the form that is
        // asked for.
        guard branch.sink.formatOrigin != .stream || offered?.isRaw == false else {
            if offered == nil, let kinds = common.kinds {
                branch.sink.narrow(to: processors.decodable(kinds))
            }
            return
        }
        // It is decoded for the processors.
        guard offered.map({ processors.decode($0) }) != true else { return }
        guard let offered, !common.intersection(offered).isEmpty else { return }
        if !offered.isRaw {
            branch.sink.narrow(to: common.demands(on: offered))
            return
        }
        guard branch.sink.narrow(to: common) else { return }
        // Answers one output in the order in which its elements prefer the caps, which one list of
        // caps would not keep, and several outputs in the order in which a tee does.
        let askable = receivers.filter { $0.acceptedCaps != nil }
        branch.sink.answerCapsQueries { [isShared = receivers.count > 1] caps in
            let answers = askable.compactMap { $0.acceptedCaps(of: caps) }
            guard answers.count == askable.count else { return nil }
            guard isShared else { return answers.first }
            return answers.reduce(caps) { $0?.zigzagIntersection($1) ?? $1 }
        }
    }

    func belongs(to capture: Capture) -> Bool { capture.branches.contains { $0 === branch } }

    /// Stops passing frames on.
    func close() { isOpen.store(false, ordering: .releasing) }

    /// Whether any audio sample arrived.
    var carriesSound: Bool { isSound.load(ordering: .relaxed) }

    /// The counts of frames that passed and of frames that did not.
    var counts: StreamCounts {
        let passed = self.passed.value
        var drops = self.drops.withLock { $0 }
        let unwanted = self.unwanted.load(ordering: .acquiring)
        // Read after the counts of what became of the frames, so that it is never too low.
        let arrived = branch.translation.balance
        var lost = arrived.dropped
        lost[.closed] = 0
        drops = drops + lost
        var offered = arrived.offered - arrived.dropped[.closed] - unwanted
        if let decoded = decoding.withLock({ $0 })?.counts {
            drops = drops + decoded.dropped
            offered += decoded.surplus - decoded.unwanted
        }
        let balance = FrameBalance(offered: offered, delivered: passed, dropped: drops)
        var counts = StreamCounts(frames: passed, dropped: drops, balance: balance)
        if let restarts { add(outagesOf: restarts, to: &counts) }
        counts.packets = branch.translation.packets
        return counts
    }

    /// Adds the outages so far, with the present one.
    private func add(outagesOf restarts: CaptureRestarts, to counts: inout StreamCounts) {
        let past = outages.withLock { $0 }
        counts.outages = past.count
        counts.restarts = past.count
        counts.outageDuration = past.duration
        guard reached > .zero, restarts.isDown || isInterrupted.load(ordering: .relaxed) else {
            return
        }
        counts.outages = past.count + 1
        counts.outageDuration += max(.zero, MediaTime(seconds: run.seconds) - reached).duration
    }

    /// Notes the first sample of a capture that was started again.
    private func resume(at time: MediaTime) {
        // A live capture may still deliver samples of the run before.
        guard time > MediaTime(nanoseconds: lastTime.load(ordering: .relaxed)) || !branch.isLive,
            isInterrupted.exchange(false, ordering: .relaxed)
        else { return }
        let gap = max(.zero, time - reached)
        if reached > .zero {
            outages.withLock {
                $0.count += 1
                $0.duration += gap.duration
            }
        }
        restarts?.delivers(after: gap)
    }

    // MARK: MediaReceiver

    func receive(_ frame: consuming VideoFrame) -> FrameDisposition {
        guard let time = checked(frame.runningTime) else { return .dropped(.noTime) }
        let verdict = limits.admit(name, at: time, for: frame.duration, isPicture: true)
        if verdict.passes { reach(time, frame.duration) }
        let isPassed = verdict.passes && isOpen.load(ordering: .acquiring)
        let result = isPassed ? count(pass(consume frame)) : refuse()
        apply(verdict)
        return result
    }

    /// Runs the processors, and gives the result to every output.
    ///
    /// - Returns: Accepted if one output accepted it; otherwise the result of the last one.
    private func pass(_ frame: consuming VideoFrame) -> FrameDisposition {
        let processed = processors.process(consume frame) { fail($0) }
        guard let frame = consume processed else { return .dropped(.processor) }
        var result = FrameDisposition.dropped(.closed)
        // After the outputs: a recorder knows the time of a picture before the detectors do.
        let shown = analysis?.wants(frame.runningTime) == true ? copy frame : nil
        defer { if let shown { analysis?.look(at: shown) } }
        guard let last = receivers.last else { return result }
        for receiver in receivers.dropLast() { result = result.or(receiver.receive(copy frame)) }
        return result.or(last.receive(consume frame))
    }

    func receive(_ sample: MediaSample) -> FrameDisposition {
        if sample.caps.isSound { isSound.store(true, ordering: .relaxed) }
        // A header comes before the first unit, which needs it. It has no time and is not a frame.
        if sample.isHeader {
            if isOpen.load(ordering: .acquiring) { give(sample) }
            return refuse()
        }
        let sample = continued(sample)
        // Encoded units may have no times: decoders and parsers compute them from the frame rate. If a unit
        // has several buffers, only the first has a time.
        let last = MediaTime(nanoseconds: latest.load(ordering: .relaxed))
        let known = sample.runningTime ?? (sample.caps.isRaw ? nil : last)
        guard let time = checked(known) else { return .dropped(.noTime) }
        latest.store(time.nanoseconds, ordering: .relaxed)
        let isNew =
            !hasBegun.exchange(true, ordering: .relaxed)
            || sample.runningTime.map { $0 != last } ?? false
        // The parts of an encoded picture have the same time; in a burst, several whole pictures do, too.
        let isPicture =
            limits.isLimited
            && (isNew ? sample.caps.isEncodedPictures : sample.caps.isAlignedToPictures)
        let verdict = limits.admit(name, at: time, for: sample.duration, isPicture: isPicture)
        let isPassed = verdict.passes && isOpen.load(ordering: .acquiring)
        if isPassed { reach(time, sample.duration) }
        let result = isPassed ? count(pass(sample)) : refuse()
        apply(verdict)
        return result
    }

    /// Runs the processors of audio, and gives the result to every output.
    private func pass(_ sample: MediaSample) -> FrameDisposition {
        guard !processors.audio.isEmpty, sample.isRawAudio else { return give(sample) }
        guard let frame = sample.audioFrame else {
            run.fail(
                PipelineError(
                    .streamFailed,
                    message: "program code cannot read the samples of the stream \"\(name)\": "
                        + "\(sample.caps)",
                    advice: "add ! audioconvert ! audio/x-raw,format=S16LE to the capture"))
            return .dropped(.badFormat)
        }
        guard let frame = processors.process(frame, onFailure: { fail($0) }) else {
            return .dropped(.processor)
        }
        do { return give(try MediaSample(frame)) } catch {
            fail(error)
            return .dropped(.badFormat)
        }
    }

    private func fail(_ error: any Error) {
        run.fail(
            error as? PipelineError
                ?? PipelineError(.elementFailed, message: "a filter failed: \(error)"))
    }

    private func apply(_ verdict: BridgeLimits.Verdict) {
        // A muxer that still waits for this stream would block the streams that continue.
        if verdict.isLast {
            analysis?.finish(isLive: branch.isLive)
            receivers.forEach { $0.streamEnded(.limit) }
        }
        if let end = verdict.end { run.end(end) }
    }

    func receive(_ tags: Tags) { receivers.forEach { $0.receive(tags) } }

    func streamWasInterrupted() {
        isInterrupted.store(true, ordering: .relaxed)
        analysis?.streamWasInterrupted()
        receivers.forEach { $0.streamWasInterrupted() }
    }

    var takesBytes: Bool {
        acceptsBytes.withLock { known in
            let accepts = known ?? (isDirect && receivers.contains { $0.takesBytes })
            known = accepts
            return accepts
        }
    }

    var takesAtOnce: Bool { isDirect && receivers.allSatisfy { $0.takesAtOnce } }

    @discardableResult
    private func give(_ sample: MediaSample) -> FrameDisposition {
        var result = FrameDisposition.dropped(.closed)
        for receiver in receivers { result = result.or(receiver.receive(sample)) }
        analysis?.look(at: sample)
        return result
    }

    func streamEnded(_ end: StreamEnd) {
        if case .missing(let loss) = end {
            if !branch.isOptional { run.note(loss: loss, of: name) }
        } else if restarts?.streamEnded() == true {
            return
        }
        // A muxer that still waits for this stream would block all others. A file may end while the
        // run is being ended.
        let isRunOver = run.ending != nil
        analysis?.finish(isLive: branch.isLive)
        receivers.forEach { $0.streamEnded(isRunOver ? .limit : .complete) }
        if let end = limits.ended(name) { run.end(end) }
        run.streamEnded()
    }

    /// The running time that the stream has reached.
    var reached: MediaTime { MediaTime(nanoseconds: end.load(ordering: .relaxed)) }

    private func reach(_ time: MediaTime, _ duration: MediaTime?) {
        lastTime.store(time.nanoseconds, ordering: .relaxed)
        end.store((time + (duration ?? .zero)).nanoseconds, ordering: .relaxed)
    }

    /// Gives raw audio without a time the time that the stream has reached: an audio sink plays it directly
    /// after the previous sample. Returns anything else unchanged.
    private func continued(_ sample: MediaSample) -> MediaSample {
        guard sample.runningTime == nil, sample.isRawAudio, hasBegun.load(ordering: .relaxed)
        else { return sample }
        return sample.due(at: reached)
    }

    private func checked(_ time: MediaTime?) -> MediaTime? {
        guard let time else {
            drops.withLock { $0[.noTime] += 1 }
            if passed.value == 0 {
                run.fail(
                    PipelineError(
                        .noTime,
                        message:
                            "the stream \"\(name)\" has no timestamps, so its frames cannot be "
                            + "ordered",
                        advice:
                            "add a parser or decoder to the string (rawvideoparse or rawaudioparse "
                            + "for raw files), or set do-timestamp=true on a live source"
                    ))
            }
            return nil
        }
        if isInterrupted.load(ordering: .relaxed) { resume(at: time) }
        return time
    }

    @discardableResult
    private func refuse() -> FrameDisposition {
        unwanted.add(1, ordering: .releasing)
        return .dropped(.closed)
    }

    private func count(_ disposition: FrameDisposition) -> FrameDisposition {
        switch disposition {
        case .accepted: passed.add()
        case .dropped(.closed) where receivers.isEmpty: passed.add()
        // After the stop, and after every output has ended, frames are not wanted and not lost.
        case .dropped(.notStarted), .dropped(.closed): refuse()
        case .dropped(let cause): drops.withLock { $0[cause] += 1 }
        }
        return disposition
    }
}

extension FrameDisposition {
    /// This result if a receiver accepted the frame, otherwise that of the next receiver.
    fileprivate func or(_ next: FrameDisposition) -> FrameDisposition { isAccepted ? self : next }
}

extension OutputBranch: MediaReceiver {
    var takesBytes: Bool { source.takesBytes }

    var takesAtOnce: Bool { queuesAtOnce(isLive: true) }

    func receive(_ frame: consuming VideoFrame) -> FrameDisposition { accept(frame) }

    func streamEnded(_ end: StreamEnd) {
        if case .limit = end { endOfStream(isAtLimit: true) } else { endOfStream() }
    }

    func receive(_ sample: MediaSample) -> FrameDisposition {
        push(
            sample.buffer.retained(), caps: sample.caps, time: sample.runningTime, duration: nil,
            live: sample.liveTiming, isHeader: sample.isHeader)
    }
}
