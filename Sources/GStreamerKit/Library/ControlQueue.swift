internal import MediaBasics
internal import Synchronization

/// The control zone of one pipeline: a queue on which its state changes run one after the other. A
/// change that blocks does not delay a streaming thread or Swift's cooperative thread pool.
package final class ControlQueue: Sendable {
    private let queue: SerialQueue
    /// Set while a change has exceeded its deadline. Requests queued behind it then time out after
    /// ``deadlineWhileStuck`` instead of their full deadline.
    private let isStuck = Atomic<Bool>(false)
    private static let deadlineWhileStuck = Duration.milliseconds(500)

    init(label: String) { queue = SerialQueue(label: label) }

    /// Runs `body` on the queue and suspends until it is done.
    ///
    /// - Returns: `nil` if `body` did not finish within `deadline`; it continues to run.
    package func run<R: Sendable>(
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

    /// Like ``run(within:_:)``, but blocks until `body` is done. For callers that are control
    /// threads themselves.
    func runAndWait<R: Sendable>(
        within deadline: Duration, _ body: @escaping @Sendable () -> R
    ) -> R? {
        let result = Mutex<R?>(nil)
        let done = MonotonicSignal()
        let box = Box(result: consume result)
        let limit = allowed(deadline)
        post { [self] in
            let value = body()
            isStuck.store(false, ordering: .relaxed)
            box.result.withLock { $0 = value }
            done.signal()
        }
        guard done.wait(for: limit) else {
            isStuck.store(true, ordering: .relaxed)
            return nil
        }
        return box.result.withLock { $0 }
    }

    private func allowed(_ deadline: Duration) -> Duration {
        isStuck.load(ordering: .relaxed) ? min(deadline, Self.deadlineWhileStuck) : deadline
    }

    /// Enqueues `body` and returns at once. ``GStreamer/waitForTeardown(deadline:)`` waits until it
    /// has run and has been freed, because it may hold the last reference to an object.
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
