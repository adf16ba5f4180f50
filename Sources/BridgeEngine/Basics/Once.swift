internal import MediaBasics
internal import Synchronization

/// A value that several producers may deliver: the first one wins, and a timeout counts as a
/// producer. Thread: any.
final class Once<R: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<R?, Never>)
        case done(R?)
    }
    private let state = Mutex(State.open)
    private let timer = Mutex<OneShotTimer?>(nil)

    /// - Returns: False if a value was delivered before.
    @discardableResult
    func resume(_ value: R?) -> Bool {
        let before = state.withLock { state in
            if case .done = state { return state }
            let before = state
            state = .done(value)
            return before
        }
        timer.withLock { $0.take() }?.cancel()
        switch before {
        case .done: return false
        case .open: return true
        case .awaited(let continuation):
            continuation.resume(returning: value)
            return true
        }
    }

    /// Sets a timeout, after which the result is `nil`. It retains this object until then, so a
    /// waiting task is always resumed. May be called once.
    func expire(after limit: Duration, on timeline: any Timeline) {
        let timer = OneShotTimer(after: limit, on: timeline) { self.resume(nil) }
        self.timer.withLock { $0 = timer }
        // A value that was delivered before the timer was stored has not cancelled the timer.
        let isDone = state.withLock { state in
            if case .done = state { true } else { false }
        }
        if isDone { self.timer.withLock { $0.take() }?.cancel() }
    }

    /// Suspends until the value is delivered. May be called once.
    ///
    /// - Parameter isCancellable: Whether the result is also `nil` once the task is cancelled.
    func value(
        isCancellable: Bool = false, isolation: isolated (any Actor)? = #isolation
    ) async -> R? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let early = state.withLock { state -> State in
                    if case .open = state { state = .awaited(continuation) }
                    return state
                }
                if case .done(let value) = early { continuation.resume(returning: value) }
            }
        } onCancel: {
            if isCancellable { resume(nil) }
        }
    }
}

/// Runs `body` and waits for it, but not longer than `limit`.
///
/// - Parameters:
///   - joining: Ends the wait when this attempt is abandoned, and also when the task is cancelled.
///     A wait that ends without a result, as on timeout, then cancels `body`. `nil` for work that
///     must be completed.
///   - late: Called with the result if `body` returns after the wait has ended.
/// - Returns: What `body` returned or threw; `nil` if it did not finish in time. Unless it is
///   cancelled, `body` then continues without a waiting caller.
func outcome<R: Sendable>(
    within limit: Duration, on timeline: any Timeline, abandonedBy joining: JoinAttempt? = nil,
    isolation: isolated (any Actor)? = #isolation,
    _ body: @escaping @Sendable () async throws(EngineError) -> R,
    late: @escaping @Sendable (R) async -> Void = { _ in }
) async -> Result<R, EngineError>? {
    let once = Once<Result<R, EngineError>>()
    once.expire(after: limit, on: timeline)
    let task = ControlTask.start {
        do throws(EngineError) {
            let value = try await body()
            if !once.resume(.success(value)) { await late(value) }
        } catch {
            once.resume(.failure(error))
        }
    }
    joining?.onAbandon { once.resume(nil) }
    let result = await once.value(isCancellable: joining != nil)
    if result == nil, joining != nil { task.cancel() }
    return result
}

extension SerialQueue {
    /// Runs `body` on this queue and waits for it, but not longer than `limit`.
    ///
    /// - Returns: The result of `body`; `nil` if it did not finish in time. `body` then continues
    ///   without a waiting caller.
    func outcome<R: Sendable>(
        within limit: Duration, on timeline: any Timeline,
        isolation: isolated (any Actor)? = #isolation,
        _ body: @escaping @Sendable () -> R
    ) async -> R? {
        let once = Once<R>()
        once.expire(after: limit, on: timeline)
        async { once.resume(body()) }
        return await once.value()
    }
}

/// Distinguishes the first call from all later ones, of which each costs one atomic load.
/// Thread: any.
struct FirstFlag: ~Copyable {
    private let isPending = Atomic<Bool>(true)

    /// Returns true for the first call since the last ``reset()``.
    func take() -> Bool {
        isPending.load(ordering: .relaxed) && isPending.exchange(false, ordering: .relaxed)
    }

    func reset() { isPending.store(true, ordering: .relaxed) }
}
