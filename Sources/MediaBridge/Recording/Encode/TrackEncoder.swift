internal import MediaBasics
internal import Synchronization

/// Encodes one stream of one format: raw buffers in, encoded frames out. Where a stream comes encoded, it only parses:
/// units in, units out.
///
/// Units are delivered on a streaming thread, which the receiver may block. The queue of raw buffers in front of the
/// encoder then fills up: for a live stream the oldest buffers are evicted, any other caller waits. So a slow disk
/// drops whole pictures, never parts of encoded ones.
///
/// If an encoder of pictures fails, another one takes over: it encodes the pictures whose units have not come, and
/// the ones that follow. Callers wait meanwhile.
final class TrackEncoder: Sendable {
    private let stream: RecordedStream
    private let caps: Caps
    private let inbox: RecordingInbox
    private let generation: Int
    private let successor: (@Sendable (_ element: String) -> UnitPipeline?)?

    private struct State {
        /// The pipeline that encodes; `nil` only until the first one was made.
        var run: EncoderRun?
        /// The pipeline that gets the pictures of one that failed.
        var next: EncoderRun?
        var isClosed = false
        var hasEnd = false
        /// The latest times from which on a key frame was requested.
        var requests: [MediaTime] = []
        /// Pictures that the queues of failed encoders evicted.
        var evicted = 0
    }
    private let state = Mutex(State())
    private let hasReportedEnd = Atomic(false)
    private let takeovers = SerialQueue(label: "mediabridge.encoder")

    /// - Parameters:
    ///   - inbox: Receives the units on a streaming thread, and the end once, also after an error.
    ///   - generation: The number of this encoder.
    ///   - successor: Returns what encodes after an element has failed; `nil` if nothing can. Called on a separate
    ///     thread, which it may block.
    init(
        _ stream: RecordedStream, recipe: UnitPipeline, caps: Caps, inbox: RecordingInbox,
        generation: Int, successor: @escaping @Sendable (_ element: String) -> UnitPipeline?
    ) throws(PipelineError) {
        (self.stream, self.caps, self.inbox, self.generation) = (stream, caps, inbox, generation)
        self.successor = stream == .video && !recipe.isCopy ? successor : nil
        let run = try makeRun(recipe)
        state.withLock { $0.run = run }
    }

    private func makeRun(_ recipe: UnitPipeline) throws(PipelineError) -> EncoderRun {
        try EncoderRun(
            stream, recipe: recipe, caps: caps, isReplaceable: successor != nil, clock: inbox.clock,
            receive: { [inbox, generation] in inbox.put($0, generation: generation) },
            end: { [weak self] in self?.ended($0, $1) })
    }

    private var run: EncoderRun? { state.withLock { $0.run } }

    /// Accepts buffers from here on. The pipeline starts asynchronously; if it cannot, the inbox gets
    /// the error.
    func start() { run?.start() }

    /// Pushes a buffer.
    ///
    /// - Parameters:
    ///   - time: The buffer's time in the recorder's own time.
    ///   - evicts: Whether the oldest queued buffer is evicted if the encoder is slow; otherwise
    ///     this blocks.
    func push(
        _ buffer: consuming Buffer, caps: Caps, time: MediaTime, duration: MediaTime?, evicts: Bool
    ) -> FrameDisposition {
        while let run {
            guard successor != nil else {
                return run.push(buffer, caps: caps, time: time, duration: duration, evicts: evicts)
            }
            let disposition = run.push(
                buffer.retained(), caps: caps, time: time, duration: duration, evicts: evicts)
            guard case .dropped(.closed) = disposition, run.hasFailed else { return disposition }
            replace(run)
            takeovers.sync {}
            guard self.run !== run else { return disposition }
        }
        return .dropped(.closed)
    }

    /// Whether a buffer is accepted without blocking and without an eviction.
    var hasRoom: Bool { run?.branch.hasRoom ?? false }

    /// Suspends until a buffer is accepted without blocking, or until the encoder is closed.
    func untilRoom() async throws(PipelineError) {
        while let run {
            try await run.branch.untilRoom()
            guard await isReplaced(run) else { return }
        }
    }

    /// Makes the first picture from a time on a key frame.
    func forceKeyFrame(from time: MediaTime) {
        let run = state.withLock { state in
            state.requests = state.requests.suffix(7) + [time]
            return state.run
        }
        if let time = ClockTime(time) { run?.branch.source.forceKeyFrame(from: time) }
    }

    /// Signals the end of the stream; units still inside the encoder are delivered.
    func endOfStream() {
        let run = state.withLock { state in
            state.hasEnd = true
            return state.run
        }
        run?.branch.endOfStream()
    }

    /// Waits until the last unit was delivered, and shuts the pipeline down.
    ///
    /// - Parameter stallTimeout: The longest time without a unit being delivered.
    func finish(stallTimeout: Duration) async throws(PipelineError) {
        while let run {
            do throws(PipelineError) {
                return try await run.output.finish(stallTimeout: stallTimeout)
            } catch {
                guard await isReplaced(run) else { throw error }
            }
        }
    }

    /// Unblocks callers that wait for room.
    func close() {
        let runs = state.withLock { state in
            state.isClosed = true
            return [state.run, state.next]
        }
        runs.forEach { $0?.output.close() }
    }

    /// Buffers that were evicted or refused.
    var drops: DropCounts {
        let (run, evicted) = state.withLock { ($0.run, $0.evicted) }
        var drops = run?.branch.drops ?? DropCounts()
        drops[.evicted] += evicted
        return drops
    }

    // MARK: Failures

    /// Thread: a streaming thread, or the one that posts the error.
    private func ended(_ run: EncoderRun?, _ error: PipelineError?) {
        guard let run, successor != nil else { return reportEnd(error) }
        // The end of a pipeline that has failed says nothing.
        if let error { replace(run, error) } else if !run.hasFailed { reportEnd(nil) }
    }

    private func reportEnd(_ error: PipelineError?) {
        guard !hasReportedEnd.exchange(true, ordering: .acquiringAndReleasing) else { return }
        inbox.put(.ended(stream, generation: generation, error))
    }

    /// Waits while a failed encoder is being replaced.
    ///
    /// - Returns: False if it has not failed, or if no other takes over.
    private func isReplaced(_ run: EncoderRun) async -> Bool {
        guard successor != nil, run.hasFailed else { return false }
        replace(run)
        await withCheckedContinuation { waiting in takeovers.async { waiting.resume() } }
        return self.run !== run
    }

    /// Begins to replace a failed encoder, unless that was begun.
    private func replace(_ failed: EncoderRun, _ error: PipelineError? = nil) {
        guard failed.beginReplacement() else { return }
        takeovers.async { [self] in
            let error = error ?? failed.output.pipeline.failure
            let (pictures, evicted) = failed.abandon()
            guard let next = makeSuccessor(of: failed) else { return reportEnd(error) }
            let (isClosed, requests) = state.withLock { state in
                state.next = next
                state.evicted += evicted
                return (state.isClosed, state.requests)
            }
            next.start()
            if isClosed { next.output.close() }
            for time in requests where time >= pictures.first?.time ?? .zero {
                if let time = ClockTime(time) { next.branch.source.forceKeyFrame(from: time) }
            }
            inbox.put(.event(.warning(.replaced(failed.element, by: next.element, error))))
            for picture in pictures { next.push(picture) }
            let hasEnd = state.withLock { state in
                (state.run, state.next) = (next, nil)
                return state.hasEnd
            }
            if hasEnd { next.branch.endOfStream() }
        }
    }

    /// Returns a pipeline of the next encoder that can be set up; `nil` if there is none.
    private func makeSuccessor(of failed: EncoderRun) -> EncoderRun? {
        var element = failed.element
        while let recipe = successor?(element) {
            if let run = try? makeRun(recipe) { return run }
            element = recipe.element
        }
        return nil
    }
}

extension PipelineError {
    /// The warning that another encoder has taken over.
    fileprivate static func replaced(
        _ element: String, by other: String, _ error: PipelineError?
    ) -> PipelineError {
        PipelineError(
            error?.code ?? .streamFailed, element: error?.element,
            message: "the encoder \(element) failed: \(error?.message ?? "unknown error"). "
                + "\(other) encodes from here on; no picture is lost",
            advice: "gst-bridge doctor, which tries the encoders; --encoder selects one")
    }
}
