internal import Synchronization

/// What an output does not take for its format, and whether that is its end.
///
/// A stream whose first buffer cannot be taken is not for this output. Later, single odd buffers are dropped and
/// counted; where nothing else comes for a second of running time, it is the stream that has changed.
final class FormatRefusals: Sendable {
    private struct State {
        /// When the first of a row came.
        var since: MediaTime?
        var reason: PipelineError?
        var onEnd: (@Sendable (PipelineError) -> Void)?
    }
    private let state = Mutex(State())
    /// Whether ``State/since`` is set: looked at for every buffer.
    private let isRow = Atomic<Bool>(false)

    private static let patience = MediaTime(nanoseconds: 1_000_000_000)

    /// Calls `body` once, where it is the output's end. On the thread that hands buffers over.
    func onEnd(_ body: @escaping @Sendable (PipelineError) -> Void) {
        state.withLock { $0.onEnd = body }
    }

    /// A run begins.
    func forgetRow() {
        guard isRow.exchange(false, ordering: .relaxed) else { return }
        state.withLock { $0.since = nil }
    }

    /// A buffer was taken.
    func taken() { if isRow.load(ordering: .relaxed) { forgetRow() } }

    /// Why one was refused; the first counts.
    func note(_ error: PipelineError) {
        state.withLock { if $0.reason == nil { $0.reason = error } }
    }

    /// Why the first one was refused.
    var reason: PipelineError? { state.withLock { $0.reason } }

    /// A buffer was refused. Not under a lock: who is told closes the output.
    ///
    /// - Parameter isFirst: Whether none was taken before.
    func refused(at time: MediaTime?, isFirst: Bool) {
        let told = state.withLock { state -> (@Sendable (PipelineError) -> Void, PipelineError)? in
            let goesOn = state.since.flatMap { since in time.map { $0 - since >= Self.patience } }
            if state.since == nil { state.since = time }
            guard isFirst || goesOn == true, let reason = state.reason else { return nil }
            return state.onEnd.take().map { ($0, reason) }
        }
        isRow.store(true, ordering: .relaxed)
        if let (tell, reason) = told { tell(reason) }
    }
}
