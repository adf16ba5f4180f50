internal import Dispatch
internal import Synchronization

/// The control zone of one pipeline: a queue of its own on which its states are changed, one after
/// the other, so that a change which blocks blocks neither a streaming thread nor Swift's pool.
final class ControlQueue: Sendable {
    private let queue: DispatchQueue

    init(label: String) { queue = DispatchQueue(label: label) }

    /// Runs `body` on the queue and suspends until it is done.
    ///
    /// - Returns: `nil` where it was not done within `deadline`; it goes on by itself then.
    func run<R: Sendable>(
        within deadline: Duration, _ body: @escaping @Sendable () -> R
    ) async -> R? {
        await withCheckedContinuation { continuation in
            let once = Once(continuation)
            let limit = Deadline(after: deadline) { once.resume(nil) }
            queue.async {
                let result = body()
                limit.cancel()
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
        queue.async {
            let value = body()
            box.result.withLock { $0 = value }
            done.signal()
        }
        guard done.wait(timeout: .now() + deadline.dispatchInterval) == .success else { return nil }
        return box.result.withLock { $0 }
    }

    /// Runs `body` on the queue, some time.
    func post(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

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
