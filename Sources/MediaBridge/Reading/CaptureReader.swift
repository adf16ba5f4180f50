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
