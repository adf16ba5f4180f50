internal import Synchronization

/// A value that several producers may deliver: the first one wins, and a timeout counts as a
/// producer. One task or thread waits for it. Thread: any.
package final class Once<R: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(@Sendable (R?) -> Void)
        case done(R?)
    }
    private let state = Mutex(State.open)
    private let timer = Mutex<OneShotTimer?>(nil)

    package init() {}

    /// - Returns: False if a value was delivered before.
    @discardableResult
    package func resume(_ value: R?) -> Bool {
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
        case .awaited(let body):
            body(value)
            return true
        }
    }

    /// Sets a timeout, after which the result is `nil`. It retains this object until then, so a
    /// waiting task is always resumed. May be called once.
    ///
    /// - Parameter body: Called if the timeout is the first to deliver.
    package func expire(
        after limit: Duration, on timeline: any Timeline = .system,
        then body: @escaping @Sendable () -> Void = {}
    ) {
        let timer = OneShotTimer(after: limit, on: timeline) { if self.resume(nil) { body() } }
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
    package func value(
        isCancellable: Bool = false, isolation: isolated (any Actor)? = #isolation
    ) async -> R? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                onValue { continuation.resume(returning: $0) }
            }
        } onCancel: {
            if isCancellable { resume(nil) }
        }
    }

    /// Blocks the calling thread until the value is delivered. May be called once.
    package func wait() -> R? {
        let signal = MonotonicSignal()
        onValue { _ in signal.signal() }
        signal.wait()
        return state.withLock { state in
            if case .done(let value) = state { value } else { nil }
        }
    }

    /// Calls `body` with the value, at once if it was delivered before.
    private func onValue(_ body: @escaping @Sendable (R?) -> Void) {
        let early = state.withLock { state -> State in
            if case .open = state { state = .awaited(body) }
            return state
        }
        if case .done(let value) = early { body(value) }
    }
}

extension SerialQueue {
    /// Runs `body` on this queue and waits for it, but not longer than `limit`.
    ///
    /// - Returns: The result of `body`; `nil` if it did not finish in time. `body` then continues
    ///   without a waiting caller.
    package func outcome<R: Sendable>(
        within limit: Duration, on timeline: any Timeline,
        isolation: isolated (any Actor)? = #isolation,
        _ body: @escaping @Sendable () -> R
    ) async -> R? {
        let once = Once<R>()
        once.expire(after: limit, on: timeline)
        async { once.resume(body()) }
        return await once.value()
    }

    /// Runs `body` on the queue, where it may block, and suspends until it has returned.
    package func value<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
        await withCheckedContinuation { continuation in
            async { continuation.resume(returning: body()) }
        }
    }
}
