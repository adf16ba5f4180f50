internal import MediaBasics
internal import Synchronization

/// A value that is unknown at first and that several tasks may wait for. Thread: any.
final class Announcement<Value: Sendable>: Sendable {
    private struct Waiter: Sendable {
        let continuation: CheckedContinuation<Value?, Never>
        let timer: OneShotTimer
    }
    private struct State {
        var value: Value?
        var isOver = false
        var waiters: [Int: Waiter] = [:]
        var number = 0
    }
    private let state = Mutex(State())
    private let timeline: any Timeline

    init(on timeline: any Timeline = .system) { self.timeline = timeline }

    /// The value; `nil` while it is unknown.
    var value: Value? { state.withLock { $0.value } }

    /// Sets or replaces the value.
    func announce(_ value: Value) { resumeAll(with: value) { $0.value = value } }

    /// Ends all waits: no value will be announced.
    func end() { resumeAll(with: nil) { $0.isOver = true } }

    private func resumeAll(with value: Value?, _ change: (inout State) -> Void) {
        let waiters = state.withLock { state in
            change(&state)
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.continuation.resume(returning: value) }
    }

    /// Waits for the value.
    ///
    /// - Returns: `nil` if the value is still unknown after `limit`.
    func value(within limit: Duration) async -> Value? {
        await withCheckedContinuation { continuation in
            let (isOver, value) = state.withLock { state in
                guard state.value == nil, !state.isOver else { return (true, state.value) }
                state.number += 1
                let number = state.number
                let timer = OneShotTimer(after: limit, on: timeline) { [weak self] in
                    self?.giveUp(number)
                }
                state.waiters[number] = Waiter(continuation: continuation, timer: timer)
                return (false, nil)
            }
            if isOver { continuation.resume(returning: value) }
        }
    }

    private func giveUp(_ number: Int) {
        let waiter = state.withLock { $0.waiters.removeValue(forKey: number) }
        waiter?.continuation.resume(returning: nil)
    }

    deinit {
        for waiter in state.withLock({ $0.waiters.values }) {
            waiter.continuation.resume(returning: nil)
        }
    }
}
