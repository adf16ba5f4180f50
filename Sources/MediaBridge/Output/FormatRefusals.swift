internal import Synchronization

/// Decides whether buffers that an output refuses because of their format end the output.
///
/// If the first buffer of a stream is refused, the output cannot take the stream and ends. Later,
/// single refused buffers are dropped and counted; if all buffers are refused for one second of
/// running time, the stream has changed, and the output ends.
final class FormatRefusals: Sendable {
    private struct State {
        /// Running time of the first buffer in a row of refused ones.
        var since: MediaTime?
        var reason: PipelineError?
        var onEnd: (@Sendable (PipelineError) -> Void)?
    }
    private let state = Mutex(State())
    /// Whether the last buffer was refused; read for every buffer.
    private let isRow = Atomic<Bool>(false)

    private static let longestRow = MediaTime(nanoseconds: 1_000_000_000)

    /// Calls `body` once, when refused buffers end the output. Runs on the thread that writes the
    /// buffers.
    func onEnd(_ body: @escaping @Sendable (PipelineError) -> Void) {
        state.withLock { $0.onEnd = body }
    }

    /// Forgets the refusals of an earlier run.
    func reset() {
        isRow.store(false, ordering: .relaxed)
        state.withLock { ($0.since, $0.reason) = (nil, nil) }
    }

    /// Forgets a row of refused buffers, because a buffer was taken.
    private func forgetRow() {
        guard isRow.exchange(false, ordering: .relaxed) else { return }
        state.withLock { $0.since = nil }
    }

    /// Notes that a buffer was taken.
    func taken() { if isRow.load(ordering: .relaxed) { forgetRow() } }

    /// Notes why a buffer was refused; only the first reason is kept.
    func note(_ error: PipelineError) {
        state.withLock { if $0.reason == nil { $0.reason = error } }
    }

    /// Why the first buffer was refused.
    var reason: PipelineError? { state.withLock { $0.reason } }

    /// Notes that a buffer was refused. Must not be called under a lock: the callback of
    /// ``onEnd(_:)`` closes the output.
    ///
    /// - Parameter isFirst: Whether no buffer was taken before.
    func refused(at time: MediaTime?, isFirst: Bool) {
        let told = state.withLock { state -> (@Sendable (PipelineError) -> Void, PipelineError)? in
            let goesOn = state.since.flatMap { since in time.map { $0 - since >= Self.longestRow } }
            if state.since == nil { state.since = time }
            guard isFirst || goesOn == true, let reason = state.reason else { return nil }
            return state.onEnd.take().map { ($0, reason) }
        }
        isRow.store(true, ordering: .relaxed)
        if let (tell, reason) = told { tell(reason) }
    }
}
