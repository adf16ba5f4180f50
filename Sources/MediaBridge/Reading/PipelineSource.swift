internal import MediaBasics
internal import Synchronization

/// What ``PipelineVideoSource`` and ``PipelineAudioSource`` have in common: one stream of a capture,
/// read run after run.
///
/// A loop over its frames, raw or encoded, starts the pipeline, and leaving the loop stops it: at once
/// inside a function. At the top level of a script Swift keeps the iterator of a loop that was left
/// by `break`; there the pipeline stops at ``stop()``, at the next loop, or when the process ends.
/// Until then a file waits, and a live capture drops its oldest frames.
///
/// The loop ends at the end of the stream. An error of the pipeline is thrown from the loop, after
/// the frames that came before it. No thread is blocked while the loop waits. A second loop starts a
/// new run from the first frame and replaces the loop before it; if that loop is waiting for a frame
/// at that moment, the second loop throws ``PipelineError/Code/invalidState``.
///
/// Thread: any but a streaming thread.
public class PipelineSource: MediaEndpoint, @unchecked Sendable {  // constants and locks
    /// How a capture is read.
    public struct Configuration: Sendable {
        /// Maximum number of frames that wait for the reader. Default 3. A limit that the string
        /// sets (`appsink max-buffers=8`) is kept. At least 64 audio frames may wait.
        public var depth = 3
        /// What the string may do, if its author is not trusted. Default `nil`: anything.
        public var untrusted: UntrustedPolicy?

        /// Creates a configuration with the default values.
        public init() {}
    }

    let runs: CaptureRuns
    let branch: CaptureBranch
    let delivery: SourceDelivery
    /// The units that gave no frame.
    let undecoded = UndecodedUnits()
    /// Decodes audio that comes encoded.
    let audioDecoding = AudioDecoding()
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
        delivery = SourceDelivery(
            of: branch.translation, audioDecoding, counting: undecoded)
        runs.add(branch)
        runs.capture.pipeline.onFirstError { [weak branch, delivery] error in
            branch?.afterDelivery { delivery.finish(.failure(error)) }
        }
    }

    deinit { runs.remove(branch) }

    /// The pipeline, for its graph, its elements and its messages.
    public final var pipeline: GStreamer.Pipeline { runs.capture.pipeline }

    /// Whether the capture is live; `nil` before its first frame.
    public final var isLive: Bool? { runs.capture.isLive }

    /// The counts of one run so far: the frames that came out of the pipeline, the frames that
    /// the program has taken, and the others by cause, such as ``DropCause/evicted``, or
    /// ``DropCause/closed`` for frames that came after the reading had ended.
    public final var statistics: FrameBalance {
        let unwanted = delivery.unwantedFrames
        var balance = branch.translation.balance
        balance.delivered -= unwanted
        balance.dropped[.closed] += unwanted
        let undecoded = undecoded.counts
        balance.delivered -= undecoded.total
        balance.dropped = balance.dropped + undecoded
        return balance
    }

    // MARK: For an engine's control thread

    /// Returns true: a capture that is not live delivers as fast as it can be
    /// read, and the engine holds its frames until they are due.
    public final func needsPacing() -> Bool { true }

    /// Returns the time base of the whole capture.
    public final func timeBase() -> MediaTimeBase? { runs.capture.timeBase }

    /// Opens devices; files are opened by ``shouldStart()``. Blocks.
    ///
    /// - Returns: Always `true`.
    /// - Throws: ``PipelineError``; with ``PipelineError/Code/invalidState`` while a loop reads the
    ///   frames.
    public final func shouldInitialize() throws(PipelineError) -> Bool {
        try claim()
        do throws(PipelineError) {
            try runs.open(branch)
            return true
        } catch {
            runs.abandon(branch)
            release()
            throw error
        }
    }

    /// Starts the capture, or joins a run of it that another source has started; a file starts from
    /// its beginning. Can be called again after a failure. Blocks; the first frames may be delivered
    /// before it returns.
    ///
    /// - Throws: ``PipelineError``.
    public final func shouldStart() throws(PipelineError) {
        // Waits for the state change or for the first frame: once a frame has come, the capture has
        // started.
        undecoded.reset()
        audioDecoding.reset()
        let start = Once<Result<Void, PipelineError>>()
        let isFirst = try runs.start(branch, from: .ready) {
            delivery.begin(onFirstFrame: { start.resume(.success(())) })
            branch.push(to: delivery)
        } onOutcome: { [branch, delivery] error in
            let outcome: Result<Void, PipelineError> = error.map { .failure($0) } ?? .success(())
            guard !start.resume(outcome), let error else { return }
            branch.afterDelivery { delivery.finish(.failure(error)) }
        }
        if isFirst, case .failure(let error) = start.wait() {
            delivery.stop()
            runs.abandon(branch)
            throw error
        }
        delivery.started()
    }

    /// Stops the capture; devices stay open. Blocks until the consumer has taken a frame that is
    /// being delivered, and until what the string records by itself is complete.
    ///
    /// - Throws: ``PipelineError``.
    public final func shouldStop() throws(PipelineError) {
        delivery.stop()
        defer { branch.finishDelivery() }
        try runs.stop(branch, to: .ready)
    }

    /// Closes devices and files. Blocks.
    ///
    /// - Throws: ``PipelineError``.
    public final func shouldDispose() throws(PipelineError) {
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
        audioDecoding.reset()
    }

    func endReading(_ last: ObjectIdentifier) {
        claimant.withLock { claimant in
            if case .sequence(last, _) = claimant { claimant = nil }
        }
    }

    /// Stops the pipeline of a loop over the frames that was left or that another task is
    /// reading; that loop ends. Does nothing if no loop reads, or if an engine uses the source.
    ///
    /// - Throws: ``PipelineError`` if the pipeline does not stop, or if what its string records by
    ///   itself is not complete.
    public final func stop() async throws(PipelineError) {
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
}
