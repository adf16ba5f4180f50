internal import MediaBasics
internal import Synchronization

/// One run of a capture that is read as a sequence. It begins with the first call of ``next()``,
/// and ends with the stream, with an error, when the run is released, or when another loop begins
/// to read.
///
/// The last case is for loops that were left at the top level of a script: Swift keeps their
/// iterators as long as the process lives.
final class SequenceRun: Sendable {
    private enum Phase { case idle, running, ended, superseded }
    private struct State {
        var phase = Phase.idle
        /// A call of ``next()`` is under way.
        var isReading = false
        /// The pipeline is starting. If the run is ended meanwhile, the call that starts it ends
        /// it.
        var isStarting = false
        /// Why the pipeline did not start.
        var refusal: PipelineError?
    }

    let source: PipelineSource
    private let state = Mutex(State())
    private let arrival = Signal()
    /// Queue on which state changes are awaited.
    private let control = SerialQueue(label: "mediabridge.sequence")

    init(_ source: PipelineSource) { self.source = source }

    deinit {
        guard state.withLock({ $0.phase }) == .running else { return }
        source.runs.abandon(source.branch)
        source.branch.discard()
        source.endReading(ObjectIdentifier(self))
    }

    /// Ends this run because another loop begins. This one was left, or is between two frames, and
    /// reads no more.
    ///
    /// - Returns: False if this loop is waiting for a frame right now.
    func supersede() -> Bool {
        state.withLock { state in
            guard !state.isReading else { return false }
            if state.phase == .running { state.phase = .superseded }
            return true
        }
    }

    /// The rotation of the last item.
    var rotation: VideoRotation { source.branch.translation.rotation }

    /// Makes ``next(unless:)`` look again at what it waits for beside the stream. Thread: any.
    func lookAgain() { arrival.signal() }

    /// What ``next(unless:)`` returns.
    enum Next {
        case item(SampleTranslation.Item)
        /// Something else is there, that the caller waits for as well.
        case other
        /// The stream has ended, or the task is cancelled.
        case end
    }

    /// Returns the next item.
    ///
    /// - Parameter hasOther: Returns whether something else is there. Called again after
    ///   ``lookAgain()``.
    func next(
        unless hasOther: () -> Bool = { false }
    ) async throws(PipelineError) -> Next {
        let phase = state.withLock { state in
            state.isReading = true
            return state.phase
        }
        defer { state.withLock { $0.isReading = false } }
        switch phase {
        case .ended: return .end
        case .superseded:
            throw PipelineError(
                .invalidState, message: "another loop has begun to read these frames",
                advice: "read them in one loop at a time, and share each frame")
        case .idle: try await start()
        case .running: break
        }
        while !Task.isCancelled {
            if state.withLock({ $0.phase }) == .ended { return .end }
            if hasOther() { return .other }
            if let item = source.branch.tryPull() { return .item(item) }
            if let failure = source.pipeline.failure ?? state.withLock({ $0.refusal }) {
                // What the pipeline delivered before it failed may have come since the last look.
                if let item = source.branch.tryPull() { return .item(item) }
                try await fail(failure)
            }
            if source.branch.isFinished {
                // An error of another branch, or one that came together with the end.
                if let failure = source.pipeline.failure ?? source.branch.loss {
                    try await fail(failure)
                }
                break
            }
            await arrival.wait()
        }
        try await stop()
        return .end
    }

    private func start() async throws(PipelineError) {
        try source.beginReading(self)
        state.withLock { ($0.phase, $0.isStarting, $0.refusal) = (.running, true, nil) }
        do throws(PipelineError) {
            // A run that was left may still be stopping, and its samples would be counted in this
            // one: the start waits until the pipeline is at NULL.
            try await onControl { [self] () throws(PipelineError) in
                _ = try source.runs.start(source.branch, from: .null) {
                    source.branch.pull { [arrival] in arrival.signal() }
                } onOutcome: { [weak self] error in
                    guard let error else { return }
                    self?.state.withLock { $0.refusal = error }
                    self?.arrival.signal()
                }
            }
        } catch {
            state.withLock { $0.isStarting = false }
            try await fail(error)
        }
        let wasEnded = state.withLock { state in
            state.isStarting = false
            return state.phase == .ended
        }
        if wasEnded { try await end() }
    }

    func fail(_ error: PipelineError) async throws(PipelineError) -> Never {
        do { try await stop() } catch {}  // the first error is the one to report
        throw error
    }

    /// Ends the run; a call of ``next()`` that is under way returns `nil`.
    func stop() async throws(PipelineError) {
        let isUp = state.withLock { state in
            defer { state.phase = .ended }
            return state.phase == .running && !state.isStarting
        }
        if isUp { try await end() }
    }

    private func end() async throws(PipelineError) {
        source.branch.discard()
        arrival.signal()
        defer { source.endReading(ObjectIdentifier(self)) }
        try await onControl { [self] () throws(PipelineError) in
            try source.runs.stop(source.branch, to: .null)
        }
    }

    /// Runs `body` on the control queue, because state changes block.
    private func onControl(
        _ body: @escaping @Sendable () throws(PipelineError) -> Void
    ) async throws(PipelineError) {
        try await control.value { Result { () throws(PipelineError) in try body() } }.get()
    }
}
