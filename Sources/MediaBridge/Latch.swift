internal import Dispatch
internal import Synchronization

/// A door that opens once and lets every waiter through.
final class Latch: Sendable {
    private struct State {
        var isOpen = false
        var waiters: [Int: CheckedContinuation<Bool, Never>] = [:]
        var next = 0
    }
    private let state = Mutex(State())

    /// Any thread.
    func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [:] }
            return state.waiters
        }
        waiters.values.forEach { $0.resume(returning: true) }
    }

    func reset() { state.withLock { $0.isOpen = false } }

    var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Suspends until the door is open.
    ///
    /// - Returns: False where it was not within `limit`.
    func wait(for limit: Duration = .seconds(1_000_000)) async -> Bool {
        await withCheckedContinuation { continuation in
            let id = state.withLock { state -> Int? in
                guard !state.isOpen else { return nil }
                state.next += 1
                state.waiters[state.next] = continuation
                return state.next
            }
            guard let id else { return continuation.resume(returning: true) }
            let nanoseconds = Int(clamping: MediaTime(limit).nanoseconds)
            DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) {
                [weak self] in
                let waiter = self?.state.withLock { $0.waiters.removeValue(forKey: id) }
                waiter?.resume(returning: false)
            }
        }
    }
}
