internal import Dispatch
internal import Synchronization

/// A continuation that may be resumed from several places; the first one counts, and a deadline is one
/// of them. Thread: any.
final class Once<R: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<R?, Never>?
        var timer: OneShotTimer?
    }
    private let state: Mutex<State>

    /// - Parameter limit: After it the continuation gets nothing.
    init(_ continuation: CheckedContinuation<R?, Never>, within limit: Duration) {
        state = Mutex(State(continuation: continuation))
        // The timer holds this until one of both is done, so that nobody waits for ever.
        let timer = OneShotTimer(after: limit) { self.resume(nil) }
        state.withLock { if $0.continuation != nil { $0.timer = timer } }
    }

    /// - Returns: False where it was resumed before.
    @discardableResult
    func resume(_ value: R?) -> Bool {
        let (waiting, timer) = state.withLock { state in
            defer { state = State() }
            return (state.continuation, state.timer)
        }
        timer?.cancel()
        waiting?.resume(returning: value)
        return waiting != nil
    }
}

/// Runs `body` and waits for it, but not longer than `limit`.
///
/// - Parameter late: Gets what came after the limit.
/// - Returns: What it returned or threw; `nil` where it was not done in time. It goes on by itself then.
func outcome<R: Sendable>(
    within limit: Duration, _ body: @escaping @Sendable () async throws(EngineError) -> R,
    late: @escaping @Sendable (R) async -> Void = { _ in }
) async -> Result<R, EngineError>? {
    await withCheckedContinuation { continuation in
        let once = Once(continuation, within: limit)
        ControlTask.start {
            do throws(EngineError) {
                let value = try await body()
                if !once.resume(.success(value)) { await late(value) }
            } catch {
                once.resume(.failure(error))
            }
        }
    }
}

extension DispatchQueue {
    /// Runs `body` here and waits for it, but not longer than `limit`.
    ///
    /// - Returns: What it returned; `nil` where it was not done in time. It goes on by itself then.
    func outcome<R: Sendable>(
        within limit: Duration, _ body: @escaping @Sendable () -> R
    ) async -> R? {
        await withCheckedContinuation { continuation in
            let once = Once(continuation, within: limit)
            async { once.resume(body()) }
        }
    }
}
