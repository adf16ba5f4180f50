internal import Dispatch
internal import MediaBasics
internal import Synchronization

/// Runs asynchronous work and blocks the calling control thread until it is done.
///
/// Only for the synchronous calls of the engine's protocols. Never use it from a task, the main
/// actor or a streaming thread.
struct BlockingTask {
    private final class Outcome: Sendable {
        let error = Mutex<(any Error)?>(nil)
    }
    private let outcome = Outcome()
    private let done = DispatchSemaphore(value: 0)

    /// - Parameter body: The work; returns its error, or `nil`.
    init(_ body: @escaping @Sendable () async -> (any Error)?) {
        let (done, outcome) = (self.done, self.outcome)
        ControlTask.start {
            let error = await body()
            outcome.error.withLock { $0 = error }
            done.signal()
        }
    }

    /// Blocks until the work is done, and throws its error.
    func wait() throws {
        done.wait()
        if let error = outcome.error.withLock({ $0 }) { throw error }
    }
}

extension SerialQueue {
    /// Runs `body` on the queue, where it may block, and suspends until it has returned.
    func value<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
        await withCheckedContinuation { continuation in
            async { continuation.resume(returning: body()) }
        }
    }
}
