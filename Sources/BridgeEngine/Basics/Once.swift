internal import MediaBasics
internal import Synchronization

/// A value that may come from several places; the first one counts, and a deadline is one of them.
/// Thread: any.
final class Once<R: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<R?, Never>, OneShotTimer?)
        case done(R?)
    }
    private let state = Mutex(State.open)

    /// - Returns: False where it was resumed before.
    @discardableResult
    func resume(_ value: R?) -> Bool {
        let before = state.withLock { state in
            if case .done = state { return state }
            let before = state
            state = .done(value)
            return before
        }
        switch before {
        case .done: return false
        case .open: return true
        case .awaited(let continuation, let timer):
            timer?.cancel()
            continuation.resume(returning: value)
            return true
        }
    }

    /// Suspends until the value is there. Called once.
    ///
    /// - Parameters:
    ///   - limit: After it there is none; `nil` for no limit.
    ///   - isCancellable: Whether there is none either once the task is cancelled.
    func value(
        within limit: Duration?, isCancellable: Bool = false,
        isolation: isolated (any Actor)? = #isolation
    ) async -> R? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // The timer holds this until one of both is done, so that nobody waits for ever.
                let timer = limit.map { OneShotTimer(after: $0) { self.resume(nil) } }
                let early = state.withLock { state -> State in
                    if case .open = state { state = .awaited(continuation, timer) }
                    return state
                }
                guard case .done(let value) = early else { return }
                timer?.cancel()
                continuation.resume(returning: value)
            }
        } onCancel: {
            if isCancellable { resume(nil) }
        }
    }
}

/// Runs `body` and waits for it, but not longer than `limit`.
///
/// - Parameters:
///   - joining: By which the waiting is abandoned. Then, when the limit is over, and when the task is
///     cancelled, `body` is cancelled too; `nil` for what must be done.
///   - late: Gets what came after that.
/// - Returns: What it returned or threw; `nil` where it was not done in time. It goes on by itself then.
func outcome<R: Sendable>(
    within limit: Duration, abandonedBy joining: JoinAttempt? = nil,
    isolation: isolated (any Actor)? = #isolation,
    _ body: @escaping @Sendable () async throws(EngineError) -> R,
    late: @escaping @Sendable (R) async -> Void = { _ in }
) async -> Result<R, EngineError>? {
    let once = Once<Result<R, EngineError>>()
    let task = ControlTask.start {
        do throws(EngineError) {
            let value = try await body()
            if !once.resume(.success(value)) { await late(value) }
        } catch {
            once.resume(.failure(error))
        }
    }
    joining?.onAbandon { once.resume(nil) }
    let result = await once.value(within: limit, isCancellable: joining != nil)
    if result == nil, joining != nil { task.cancel() }
    return result
}

extension SerialQueue {
    /// Runs `body` here and waits for it, but not longer than `limit`.
    ///
    /// - Returns: What it returned; `nil` where it was not done in time. It goes on by itself then.
    func outcome<R: Sendable>(
        within limit: Duration, isolation: isolated (any Actor)? = #isolation,
        _ body: @escaping @Sendable () -> R
    ) async -> R? {
        let once = Once<R>()
        async { once.resume(body()) }
        return await once.value(within: limit)
    }
}
