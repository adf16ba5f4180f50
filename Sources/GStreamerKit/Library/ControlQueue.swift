internal import Dispatch
internal import MediaBasics
internal import Synchronization

/// The control zone of one pipeline: a queue of its own on which its states are changed, one after
/// the other, so that a change which blocks blocks neither a streaming thread nor Swift's pool.
final class ControlQueue: Sendable {
    private let queue: SerialQueue
    /// Set while a change is overdue. What comes behind it waits for it, and not for a whole deadline
    /// of its own.
    private let isStuck = Atomic<Bool>(false)
    private static let patienceWhileStuck = Duration.milliseconds(500)

    init(label: String) { queue = SerialQueue(label: label) }

    /// Runs `body` on the queue and suspends until it is done.
    ///
    /// - Returns: `nil` where it was not done within `deadline`; it goes on by itself then.
    func run<R: Sendable>(
        within deadline: Duration, _ body: @escaping @Sendable () -> R
    ) async -> R? {
        let limit = allowed(deadline)
        return await withCheckedContinuation { continuation in
            let once = Once(continuation)
            let deadline = OneShotTimer(after: limit) { [self] in
                isStuck.store(true, ordering: .relaxed)
                once.resume(nil)
            }
            post { [self] in
                let result = body()
                isStuck.store(false, ordering: .relaxed)
                deadline.cancel()
                once.resume(result)
            }
        }
    }

    /// The same for callers that are control threads themselves: blocks until it is done.
    func runAndWait<R: Sendable>(
        within deadline: Duration, _ body: @escaping @Sendable () -> R
    ) -> R? {
        let result = Mutex<R?>(nil)
        let done = DispatchSemaphore(value: 0)
        let box = Box(result: consume result)
        let limit = allowed(deadline)
        post { [self] in
            let value = body()
            isStuck.store(false, ordering: .relaxed)
            box.result.withLock { $0 = value }
            done.signal()
        }
        guard done.wait(timeout: .now() + limit.dispatchInterval) == .success else {
            isStuck.store(true, ordering: .relaxed)
            return nil
        }
        return box.result.withLock { $0 }
    }

    private func allowed(_ deadline: Duration) -> Duration {
        isStuck.load(ordering: .relaxed) ? min(deadline, Self.patienceWhileStuck) : deadline
    }

    /// Runs `body` on the queue, some time. ``GStreamer/waitForTeardown(deadline:)`` waits until it is run
    /// and freed: it may hold what nobody else does.
    func post(_ body: @escaping @Sendable () -> Void) {
        GStreamer.countAsTeardown(on: queue, body)
    }

    private final class Box<R: Sendable>: Sendable {
        let result: Mutex<R?>
        init(result: consuming sending Mutex<R?>) { self.result = result }
    }

    private final class Once<R: Sendable>: Sendable {
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
}
