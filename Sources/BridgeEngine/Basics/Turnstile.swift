internal import Synchronization

/// Lets the operations of an actor through one after the other, in the order they came, although each
/// of them suspends. Thread: any.
final class Turnstile: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [Once<Bool>] = []
    }
    private let state = Mutex(State())

    /// Suspends until nobody else is inside; then the caller is.
    ///
    /// - Parameter isCancellable: Whether a task that is cancelled gives its place up.
    /// - Returns: False where it did.
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
        return await turn.value(within: nil, isCancellable: isCancellable) == true
    }

    func leave() {
        while let next = nextOrFree() {
            // Whoever was cancelled is not there any more.
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
