internal import Synchronization

/// One reader of one branch of a capture, and its runs: what ``PipelineVideoSource`` and
/// ``PipelineAudioSource`` stand on.
final class CaptureReader: Sendable {
    let runs: CaptureRuns
    let branch: CaptureBranch
    let delivery = SourceDelivery()
    private enum Claimant { case sequence, engine }
    private let claimant = Mutex<Claimant?>(nil)

    init(_ runs: CaptureRuns, _ branch: CaptureBranch) {
        self.runs = runs
        self.branch = branch
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
        try claim(.engine)
        do throws(PipelineError) {
            try runs.open(branch)
        } catch {
            runs.abandon(branch)
            release(.engine)
            throw error
        }
    }

    /// Blocks, and the first frames may be delivered before it returns.
    func start() throws(PipelineError) {
        // Not the change alone is waited for: with a frame there, the capture has started.
        let start = StartOutcome()
        let isFirst = try runs.start(branch, from: .ready) {
            delivery.begin(onFirstFrame: { start.note(nil) })
            branch.push(to: delivery)
        } onOutcome: { [delivery] error in
            if start.note(error), let error { delivery.finish(.failed(error)) }
        }
        if isFirst, let error = start.wait() {
            delivery.stop()
            runs.abandon(branch)
            throw error
        }
        delivery.started()
    }

    func stop() throws(PipelineError) {
        delivery.stop()
        try runs.stop(branch, to: .ready)
    }

    func dispose() throws(PipelineError) {
        delivery.stop()
        defer {
            delivery.consumer = nil
            release(.engine)
        }
        try runs.stop(branch, to: .null)
    }

    // MARK: For a sequence

    func beginReading() throws(PipelineError) { try claim(.sequence) }

    func endReading() { release(.sequence) }

    /// One reader at a time: each frame exists once.
    private func claim(_ next: Claimant) throws(PipelineError) {
        let isFree = claimant.withLock { claimant in
            // An engine may initialise what it has initialised.
            guard claimant == nil || (claimant == .engine && next == .engine) else { return false }
            claimant = next
            return true
        }
        guard !isFree else { return }
        throw PipelineError(
            .invalidState, message: "these frames are being read already",
            advice: "read them once, and share each frame")
    }

    private func release(_ last: Claimant) {
        claimant.withLock { if $0 == last { $0 = nil } }
    }

    // MARK: Counts

    var statistics: PipelineVideoSource.Statistics {
        var drops = DropCounts()
        drops[.evicted] = branch.evictedSamples
        return PipelineVideoSource.Statistics(
            captured: branch.arrivedSamples, delivered: branch.takenSamples, dropped: drops)
    }
}
