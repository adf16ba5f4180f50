internal import MediaBasics
internal import Synchronization

/// Serialises the operations of an actor, although each of them suspends. Operations run in the
/// order in which they called ``enter(isCancellable:isolation:)``. Thread: any.
final class Turnstile: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [Once<Bool>] = []
    }
    private let state = Mutex(State())

    /// Suspends until no other operation is inside, then enters.
    ///
    /// - Parameter isCancellable: Whether the wait ends when the task is cancelled.
    /// - Returns: False if the wait ended because of cancellation; the caller has not entered then.
    func enter(
        isCancellable: Bool = false, isolation: isolated (any Actor)? = #isolation
    ) async -> Bool {
        let turn = state.withLock { state -> Once<Bool>? in
            guard state.isTaken else {
                state.isTaken = true
                return nil
            }
            let turn = Once<Bool>()
            state.waiting.append(turn)
            return turn
        }
        guard let turn else { return true }
        return await turn.value(isCancellable: isCancellable) == true
    }

    func leave() {
        while let next = nextOrFree() {
            // `resume` returns false for a waiter that was cancelled; the next one is tried.
            if next.resume(true) { return }
        }
    }

    private func nextOrFree() -> Once<Bool>? {
        state.withLock { state in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.isTaken = false
            return nil
        }
    }
}
