internal import Dispatch
internal import Synchronization

/// Runs `body` and waits for it, but not longer than `limit`.
///
/// - Returns: What it returned or threw; `nil` where it was not done in time. It goes on by itself then.
func outcome<R: Sendable>(
    within limit: Duration, _ body: @escaping @Sendable () async throws(EngineError) -> R
) async -> Result<R, EngineError>? {
    await withCheckedContinuation { continuation in
        let once = Once(continuation)
        let timer = OneShotTimer(after: limit) { once.resume(nil) }
        Task.detached {
            let result: Result<R, EngineError>
            do throws(EngineError) {
                result = .success(try await body())
            } catch {
                result = .failure(error)
            }
            timer.cancel()
            once.resume(result)
        }
    }
}

/// A continuation that may be resumed from several places; the first one counts.
final class Once<R: Sendable>: Sendable {
    private let continuation: Mutex<CheckedContinuation<R?, Never>?>

    init(_ continuation: CheckedContinuation<R?, Never>) {
        self.continuation = Mutex(continuation)
    }

    func resume(_ value: R?) {
        let waiting = continuation.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        waiting?.resume(returning: value)
    }
}

/// Calls back once, unless it is called off before.
final class OneShotTimer: Sendable {
    /// Sendable: dispatch objects are thread-safe, and the reference never changes.
    private struct Timer: @unchecked Sendable {
        let source: any DispatchSourceTimer
    }
    private let timer: Timer
    /// Of its own, so that a pool full of blocked threads delays no deadline.
    private static let queue = DispatchQueue(label: "mediabridge.deadlines")

    init(after duration: Duration, expire: @escaping @Sendable () -> Void) {
        let source = DispatchSource.makeTimerSource(queue: Self.queue)
        source.schedule(deadline: .now() + duration.timeInterval)
        source.setEventHandler(handler: expire)
        timer = Timer(source: source)
        source.activate()
    }

    func cancel() { timer.source.cancel() }

    deinit { timer.source.cancel() }
}

/// Calls back again and again, until it is called off or let go of.
final class Heartbeat: Sendable {
    /// Sendable: dispatch objects are thread-safe, and the reference never changes.
    private struct Timer: @unchecked Sendable {
        let source: any DispatchSourceTimer
    }
    private let timer: Timer

    /// - Parameter beat: One call at a time, on `queue`.
    init(every interval: Duration, on queue: DispatchQueue, beat: @escaping @Sendable () -> Void) {
        let source = DispatchSource.makeTimerSource(queue: queue)
        source.schedule(deadline: .now() + interval.timeInterval, repeating: interval.timeInterval)
        source.setEventHandler(handler: beat)
        timer = Timer(source: source)
        source.activate()
    }

    func cancel() { timer.source.cancel() }

    deinit { timer.source.cancel() }
}
