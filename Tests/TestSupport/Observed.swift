internal import Synchronization

/// A value that tests change and wait for. Thread: any.
public final class Observed<Value: Sendable>: Sendable {
    private typealias Waiter = (
        isMet: @Sendable (Value) -> Bool, continuation: CheckedContinuation<Void, Never>
    )
    private struct State {
        var value: Value
        var waiters: [Int: Waiter] = [:]
        var cancelled: Set<Int> = []
        var last = 0
    }
    private let state: Mutex<State>

    public init(_ value: Value) { state = Mutex(State(value: value)) }

    public var value: Value { state.withLock { $0.value } }

    /// Changes the value, and resumes the waiters whose condition it fulfils.
    public func change<R: Sendable>(_ body: @Sendable (inout Value) -> R) -> R {
        let (result, met) = state.withLock { state in
            let result = body(&state.value)
            let met = state.waiters.filter { $0.value.isMet(state.value) }
            for id in met.keys { state.waiters[id] = nil }
            return (result, met.values.map(\.continuation))
        }
        met.forEach { $0.resume() }
        return result
    }

    public func wait(until isMet: @escaping @Sendable (Value) -> Bool) async {
        await wait(now: isMet, later: isMet)
    }

    /// Suspends until a condition holds or the task is cancelled. A test's deadline cancels its
    /// task: a test that never resumed would block all others forever.
    ///
    /// - Parameters:
    ///   - now: Checked immediately.
    ///   - later: Checked after every change.
    public func wait(
        now: @Sendable (Value) -> Bool, later: @escaping @Sendable (Value) -> Bool
    ) async {
        let id = state.withLock { state in
            state.last += 1
            return state.last
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if now(state.value) || state.cancelled.remove(id) != nil { return true }
                    state.waiters[id] = (later, continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                let waiter = state.waiters.removeValue(forKey: id)
                if waiter == nil { state.cancelled.insert(id) }
                return waiter
            }
            waiter?.continuation.resume()
        }
    }
}
