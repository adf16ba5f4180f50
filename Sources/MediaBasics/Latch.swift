internal import Synchronization

/// Suspends callers until it is opened. Opening it resumes all of them; it stays open until reset.
package final class Latch: Sendable {
    private struct Waiter {
        let continuation: CheckedContinuation<Bool, Never>
        var deadline: OneShotTimer?
    }
    private struct State {
        var isOpen = false
        var waiters: [Int: Waiter] = [:]
        var next = 0
    }
    private let state = Mutex(State())

    package init() {}

    /// Opens the latch and resumes all waiters. Thread: any.
    package func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in waiters.values {
            waiter.deadline?.cancel()
            waiter.continuation.resume(returning: true)
        }
    }

    package func reset() { state.withLock { $0.isOpen = false } }

    /// Suspends until the latch is open.
    ///
    /// - Parameter limit: The longest wait; `nil` for no limit.
    /// - Returns: False if the latch was not opened within `limit`.
    package func wait(
        for limit: Duration? = nil, on timeline: any Timeline = .system
    ) async -> Bool {
        await withCheckedContinuation { continuation in
            let id = state.withLock { state -> Int? in
                guard !state.isOpen else { return nil }
                state.next += 1
                state.waiters[state.next] = Waiter(continuation: continuation)
                return state.next
            }
            guard let id else { return continuation.resume(returning: true) }
            guard let limit else { return }
            let deadline = OneShotTimer(after: limit, on: timeline) { [weak self] in
                let waiter = self?.state.withLock { $0.waiters.removeValue(forKey: id) }
                waiter?.continuation.resume(returning: false)
            }
            state.withLock { $0.waiters[id]?.deadline = deadline }
        }
    }
}
