internal import MediaBasics
internal import Synchronization

/// Reads one branch of a capture, run after run. ``PipelineVideoSource`` and
/// ``PipelineAudioSource`` are built on it.
final class CaptureReader: Sendable {
    let runs: CaptureRuns
    let branch: CaptureBranch
    let delivery: SourceDelivery
    let undecoded = UndecodedUnits()
    let sound: SoundDecoding
    private enum Claimant {
        case sequence(ObjectIdentifier, Reading)
        case engine
    }
    /// A weak reference: a loop ends when its iterator is released.
    private struct Reading {
        weak var run: SequenceRun?
    }
    private let claimant = Mutex<Claimant?>(nil)

    init(_ runs: CaptureRuns, _ branch: CaptureBranch) {
        self.runs = runs
        self.branch = branch
        sound = SoundDecoding(counting: undecoded)
        delivery = SourceDelivery(decoding: sound) { [translation = branch.translation] in
            translation.rotation
        }
        runs.add(branch)
        runs.capture.pipeline.onFirstError { [weak branch, delivery] error in
            branch?.afterDelivery { delivery.finish(.failed(error)) }
        }
    }

    deinit { runs.remove(branch) }

    var capture: Capture { runs.capture }
    var pipeline: Pipeline { capture.pipeline }

    // MARK: For an engine's control thread

    func initialize() throws(PipelineError) {
        try claim()
        do throws(PipelineError) {
            try runs.open(branch)
        } catch {
            runs.abandon(branch)
            release()
            throw error
        }
    }

    /// Starts the capture, or joins a run of it. Blocks; the first frames may be delivered before
    /// it returns.
    func start() throws(PipelineError) {
        // Waits for the state change or for the first frame: once a frame has come, the capture has
        // started.
        undecoded.reset()
        sound.reset()
        let start = Once<Result<Void, PipelineError>>()
        let isFirst = try runs.start(branch, from: .ready) {
            delivery.begin(onFirstFrame: { start.resume(.success(())) })
            branch.push(to: delivery)
        } onOutcome: { [branch, delivery] error in
            let outcome: Result<Void, PipelineError> = error.map { .failure($0) } ?? .success(())
            guard !start.resume(outcome), let error else { return }
            branch.afterDelivery { delivery.finish(.failed(error)) }
        }
        if isFirst, case .failure(let error) = start.wait() {
            delivery.stop()
            runs.abandon(branch)
            throw error
        }
        delivery.started()
    }

    func stop() throws(PipelineError) {
        delivery.stop()
        defer { branch.finishDelivery() }
        try runs.stop(branch, to: .ready)
    }

    func dispose() throws(PipelineError) {
        delivery.stop()
        defer {
            branch.finishDelivery()
            delivery.consumer = nil
            release()
        }
        try runs.stop(branch, to: .null)
    }

    // MARK: For a sequence

    /// Makes `run` the loop that reads, in place of an earlier loop that was left.
    func beginReading(_ run: SequenceRun) throws(PipelineError) {
        let isFree = claimant.withLock { claimant in
            switch claimant {
            case .engine: return false
            case .sequence(_, let reading):
                guard reading.run?.supersede() ?? true else { return false }
            case nil: break
            }
            claimant = .sequence(ObjectIdentifier(run), Reading(run: run))
            return true
        }
        if !isFree { throw Self.isBeingRead }
        undecoded.reset()
        sound.reset()
    }

    func endReading(_ last: ObjectIdentifier) {
        claimant.withLock { claimant in
            if case .sequence(last, _) = claimant { claimant = nil }
        }
    }

    /// Stops the loop that reads or that was left.
    func stopReading() async throws(PipelineError) {
        let run = claimant.withLock { claimant -> SequenceRun? in
            guard case .sequence(_, let reading) = claimant else { return nil }
            return reading.run
        }
        try await run?.stop()
    }

    /// Claims the branch for an engine. Only one reader at a time: each frame is delivered once.
    private func claim() throws(PipelineError) {
        let isFree = claimant.withLock { claimant in
            // An engine may initialise a source again.
            if case .sequence = claimant { return false }
            claimant = .engine
            return true
        }
        if !isFree { throw Self.isBeingRead }
    }

    private static let isBeingRead = PipelineError(
        .invalidState, message: "these frames are already being read",
        advice: "read them in one place, and share each frame; at the top level of a script, call "
            + "stop() after leaving a loop")

    private func release() {
        claimant.withLock { if case .engine = $0 { $0 = nil } }
    }

    // MARK: Counts

    var statistics: PipelineVideoSource.Statistics {
        let unwanted = delivery.unwantedFrames
        var balance = branch.balance
        balance.delivered -= unwanted
        balance.dropped[.closed] += unwanted
        let undecoded = undecoded.counts
        balance.delivered -= undecoded.total
        balance.dropped = balance.dropped + undecoded
        return PipelineVideoSource.Statistics(balance: balance)
    }
}

/// Shares a capture between the readers of its branches: it runs from the first reader that starts
/// to the last that stops, so that the video and the audio of one string have one time base.
///
/// Opening, starting and stopping block, and are done one at a time on a private queue. Thread: any
/// but a streaming thread.
final class CaptureRuns: Sendable {
    let capture: Capture
    /// Fills the capture's appsrcs. The pipeline refers to it weakly; this reference keeps it as long as there
    /// may be a reader.
    private let feed: (any CaptureFeed)?

    private struct State {
        /// Names of the branches that have a reader.
        var readers: Set<String> = []
        /// Names of the branches whose readers have opened the devices.
        var open: Set<String> = []
        var running: Set<String> = []
    }
    private let state = Mutex(State())
    private let queue = SerialQueue(label: "mediabridge.capture")

    init(_ capture: Capture, feed: (any CaptureFeed)? = nil) {
        self.capture = capture
        self.feed = feed
        feed?.attach(to: capture.pipeline)
        // No branch has a reader yet, and a branch without a reader would block all of them.
        capture.branches.forEach { $0.discard() }
    }

    private var pipeline: Pipeline { capture.pipeline }

    // MARK: Readers

    func add(_ branch: CaptureBranch) { state.withLock { _ = $0.readers.insert(branch.name) } }

    /// Removes a reader; the others go on. If it was the last, completes what the capture records.
    func remove(_ branch: CaptureBranch) {
        let isWanted = state.withLock { state in
            state.readers.remove(branch.name)
            state.open.remove(branch.name)
            state.running.remove(branch.name)
            return !state.readers.isEmpty
        }
        if isWanted { return branch.discard() }
        if capture.needsEnding { finishAndStop(hasEnded: branch.isEnded) }
    }

    // MARK: Control

    /// Opens the capture's devices: sets the pipeline to READY unless it is running.
    func open(_ branch: CaptureBranch) throws(PipelineError) {
        try onQueue { () throws(PipelineError) in
            if state.withLock({ $0.running.isEmpty }) {
                pipeline.forgetOutcome()
                try pipeline.setStateAndWait(.ready)
            }
            state.withLock { _ = $0.open.insert(branch.name) }
        }
    }

    /// Starts reading a branch: starts the capture, or joins a run that another reader has started.
    ///
    /// - Parameters:
    ///   - connect: Connects the receiver; called before the first sample comes.
    ///   - onOutcome: Called with the result of the start, `nil` for success. Not called if a run
    ///     was joined.
    /// - Returns: False if a run was joined.
    func start(
        _ branch: CaptureBranch, from rest: PipelineState, connect: () -> Void,
        onOutcome: @escaping @Sendable (PipelineError?) -> Void
    ) throws(PipelineError) -> Bool {
        try onQueue { () throws(PipelineError) in
            let others = state.withLock { state in
                state.running.remove(branch.name)
                return state.running
            }
            if !others.isEmpty, pipeline.failure == nil, !pipeline.hasEnded {
                connect()
                state.withLock { _ = $0.running.insert(branch.name) }
                return false
            }
            // A run that failed, or was never stopped, is still up.
            letGo(besides: others)
            // Errors of a run that has no reader any more are ignored.
            _ = capture.finishAndWait(hasEnded: branch.isEnded)
            pipeline.forgetOutcome()
            try pipeline.setStateAndWait(rest)
            // Only open devices report their formats.
            if rest != .ready { try pipeline.setStateAndWait(.ready) }
            for branch in capture.branches { branch.sink.preferCommonFormats() }
            capture.prepare()
            connect()
            let readers = state.withLock { state in
                state.running.insert(branch.name)
                return state.readers
            }
            for other in capture.branches where other !== branch && !others.contains(other.name) {
                if readers.contains(other.name) { other.hold() } else { other.discard() }
            }
            capture.isUp = true
            // Not waited for: a reader that keeps the first sample until this returns also keeps
            // the lock that the state change needs.
            pipeline.requestState(.playing) { [weak capture] error in
                if error != nil { capture?.isUp = false }
                onOutcome(error)
            }
            return true
        }
    }

    /// Stops reading a branch; the last reader stops the capture.
    ///
    /// - Parameter rest: The state to set then. READY is kept if another reader has opened the
    ///   devices.
    func stop(_ branch: CaptureBranch, to rest: PipelineState) throws(PipelineError) {
        try onQueue { () throws(PipelineError) in
            let others = state.withLock { state in
                state.running.remove(branch.name)
                if rest == .null { state.open.remove(branch.name) }
                return (state.running, state.open)
            }
            guard others.0.isEmpty else { return branch.discard() }
            letGo(besides: [])
            let isOpen = rest == .null && !others.1.isEmpty
            let problem = capture.finishAndWait(hasEnded: branch.isEnded)
            try capture.leaveAndWait(to: isOpen ? .ready : rest)
            if let problem = problem ?? capture.missingFile { throw problem }
        }
    }

    /// Shuts down a pipeline that failed, or whose reader is gone, without waiting for it.
    func abandon(_ branch: CaptureBranch) {
        let isLast = state.withLock { state in
            state.running.remove(branch.name)
            return state.running.isEmpty
        }
        guard isLast else { return branch.discard() }
        let hasEnded = branch.isEnded
        letGo(besides: [])
        guard capture.needsEnding else { return pipeline.requestState(.null) }
        finishAndStop(hasEnded: hasEnded)
    }

    /// Completes what the capture records and stops it, in the background. No caller is there to
    /// receive an error, so it becomes the pipeline's failure.
    private func finishAndStop(hasEnded: Bool) {
        let capture = capture
        GStreamer.countAsTeardown(on: queue) {
            let problem = capture.finishAndWait(hasEnded: hasEnded)
            do throws(PipelineError) {
                try capture.pipeline.setStateAndWait(.null)
                if let problem = problem ?? capture.missingFile { throw problem }
            } catch { capture.pipeline.fail(error) }
        }
    }

    /// Discards the samples of all other branches, so that none waits for a reader that has not
    /// begun.
    private func letGo(besides names: Set<String>) {
        for branch in capture.branches where !names.contains(branch.name) { branch.discard() }
    }

    private func onQueue<R>(
        _ body: () throws(PipelineError) -> R
    ) throws(PipelineError) -> R {
        let result = queue.sync { Result { () throws(PipelineError) in try body() } }
        return try result.get()
    }
}
