internal import MediaBasics
internal import Synchronization

/// Starts a capture of a bridge again after it has ended or failed, if it is live or reads from a connection
/// without a known end: a camera that was switched off, a network that was away.
///
/// The times of its streams continue on the clock, so that outputs and recordings have a gap as
/// long as the capture was down. A capture that has not delivered a sample yet is started again
/// while its device or server does not answer. Any other error ends the run, since its string may be
/// wrong. Thread: any.
final class CaptureRestarts: Sendable {
    private struct State {
        /// Whether the capture is down, or being started.
        var isDown = false
        /// Whether the next sample is the first since the capture went down.
        var isAwaited = false
        /// Why it ended while it, or the bridge, was being started.
        var pending: PipelineError?
        var attempts = RestartAttempts()
        var silence = StallWatch()
        var isOver = false
        /// Whether the bridge has started the capture, or has left that to the restarts.
        var hasBegun = false
        var work: Task<Void, Never>?
    }
    private let state = Mutex(State())
    let capture: Capture
    private let name: String
    private let policy: RestartPolicy
    private let run: BridgeRun
    private let over = Latch()

    /// - Throws: ``PipelineError`` if the capture writes files, which a restart would overwrite.
    init(
        _ capture: Capture, name: String, policy: RestartPolicy, run: BridgeRun
    ) throws(PipelineError) {
        if let writer = capture.pipeline.elements.first(where: { $0.klass.contains("Sink/File") }) {
            throw PipelineError(
                .invalidState, element: writer.path,
                message: "a capture that writes files cannot be restarted: a restart would "
                    + "overwrite the files of the first run",
                advice: "write the files with an output or a recording")
        }
        self.capture = capture
        self.name = name
        self.policy = policy
        self.run = run
    }

    /// Whether the capture is down, or being started.
    var isDown: Bool { state.withLock { $0.isDown } }

    /// Reports that the capture delivers again, once for all of its streams.
    ///
    /// - Parameter time: The time without data.
    func delivers(after time: MediaTime) {
        let isFirst = state.withLock { state in
            defer { state.isAwaited = false }
            return state.isAwaited
        }
        if isFirst { run.notify(.resumed(capture: name, after: time.duration)) }
    }

    /// Takes over the end of a stream. Once all streams of the capture have ended, it is started
    /// again.
    ///
    /// - Returns: False if the stream is to end: see ``takeOver(_:)``.
    func streamEnded() -> Bool {
        guard capture.canComeBack == true, run.ending == nil else {
            if capture.canComeBack == false { warn() }
            return false
        }
        guard capture.branches.allSatisfy(\.isEnded) else { return true }
        return takeOver(
            capture.pipeline.failure
                ?? PipelineError(.streamFailed, message: "the capture \"\(name)\" ended"))
    }

    private func warn() {
        run.warn(
            PipelineError(
                .streamFailed,
                message:
                    "the capture \"\(name)\" has ended and is not restarted: it is not live, and does "
                    + "not read from a connection without a known end",
                advice: "restart live captures only"))
    }

    /// Takes over an error or an end of the capture.
    ///
    /// - Returns: False if the error is the run's: the capture cannot come back, or it has never delivered
    ///   a sample although its source answers. After the end of the run an attempt that fails loses nothing.
    func takeOver(_ reason: PipelineError) -> Bool {
        if waits(becauseOf: reason) { return true }
        guard capture.canComeBack == true else { return false }
        restart(because: reason)
        return true
    }

    /// Starts the capture again; later if it is being started already.
    private func restart(because reason: PipelineError) {
        state.withLock { state in
            guard state.hasBegun, !state.isDown else {
                state.pending = state.pending ?? reason
                return
            }
            guard !state.isOver, run.ending == nil else { return }
            goDown(because: reason, &state)
        }
    }

    /// Starts a capture again that has delivered nothing between three checks. Called at regular
    /// intervals.
    func check() {
        // Any other capture may wait for a slow output.
        guard capture.isLive == true else { return }
        let samples = capture.arrivedSamples
        let isSilent = state.withLock { state in
            let wasSilent = state.silence.isStalled
            _ = state.silence.look(count: samples, isWaiting: !state.isDown)
            return wasSilent && state.silence.isStalled
        }
        guard isSilent else { return }
        _ = takeOver(
            PipelineError(
                .deadlineExceeded, message: "the capture \"\(name)\" produces no more data",
                advice: "check the device or the network"))
    }

    /// Ends the restarts, and waits until none is under way.
    func end() async {
        let work = state.withLock { state in
            state.isOver = true
            return state.work
        }
        over.open()
        await work?.value
    }

    // MARK: The start

    /// Takes over an error of the capture before it has delivered a sample, if its source does not
    /// answer: a device that is not connected, a server that does not run. Until ``begin()`` the
    /// error waits.
    ///
    /// - Returns: False if the error is the run's.
    func waits(becauseOf error: PipelineError) -> Bool {
        guard capture.isLive == nil, isAbsence(error) else { return false }
        restart(because: error)
        return true
    }

    /// Whether the source does not answer, so that the bridge must not start the capture.
    var isWaiting: Bool { state.withLock { $0.pending != nil } }

    /// Starts the capture again if its source has not answered so far. Called once, when the bridge
    /// has started everything else.
    func begin() {
        state.withLock { state in
            state.hasBegun = true
            guard let error = state.pending.take() else { return }
            goDown(because: error, &state)
        }
    }

    /// Whether an error is that of a source that does not answer. A file that does not exist will
    /// not, either, and a password does not become right.
    private func isAbsence(_ error: PipelineError) -> Bool {
        guard error.isAbsence,
            let element = capture.pipeline.elements.first(where: { $0.path == error.element })
        else { return false }
        return element.readsConnection
            || element.klass.contains("Source") && !element.klass.contains("File")
    }

    // MARK: The restart

    private func goDown(because error: PipelineError, _ state: inout State) {
        (state.isDown, state.isAwaited) = (true, true)
        state.work = ControlTask.start { [self] in await restart(because: error) }
    }

    private func restart(because first: PipelineError) async {
        var reason = first
        while true {
            await tearDown()
            let (now, samples) = (MediaTime(SharedClock.now), capture.arrivedSamples)
            guard samples > 0 || isAbsence(reason) else {
                return run.fail(reason, of: .capture(name))
            }
            guard
                let next = state.withLock({
                    $0.attempts.next(policy, at: now, delivered: samples)
                })
            else { return run.fail(reason, of: .capture(name)) }
            let (attempt, delay) = (next.number, max(next.delay, reason.retryAfter ?? .zero))
            run.notify(
                samples == 0
                    ? .waiting(capture: name, delay: delay, because: reason)
                    : .restarting(capture: name, attempt: attempt, delay: delay, because: reason))
            if await over.wait(for: delay) { return }
            do throws(PipelineError) {
                guard let next = try await bringUp() else { return }
                reason = next
            } catch { reason = error }
        }
    }

    /// Delivers what waits, and stops the capture.
    private func tearDown() async {
        for branch in capture.branches { await branch.suspend() }
        do throws(PipelineError) {
            try await capture.leave()
        } catch { run.note(error, of: .capture(name)) }
    }

    /// - Returns: Why the capture has ended again meanwhile; `nil` if it runs.
    private func bringUp() async throws(PipelineError) -> PipelineError? {
        state.withLock { state in
            state.pending = nil
            state.attempts.begin(at: MediaTime(SharedClock.now), delivered: capture.arrivedSamples)
        }
        capture.prepareToResume()
        try await capture.pipeline.setState(.playing)
        capture.isUp = true
        return state.withLock { state in
            state.isDown = state.pending != nil
            return state.pending.take()
        }
    }
}
