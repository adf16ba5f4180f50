internal import Dispatch
internal import Synchronization

/// Runs asynchronous work and blocks the calling control thread until it is done.
///
/// For the synchronous calls of the engine's protocols alone: never from a task, never from the main
/// actor, never from a streaming thread.
struct BlockingTask {
    private final class Outcome: Sendable {
        let error = Mutex<(any Error)?>(nil)
    }
    private let outcome = Outcome()
    private let done = DispatchSemaphore(value: 0)

    /// - Parameter body: Returns what went wrong.
    init(_ body: @escaping @Sendable () async -> (any Error)?) {
        let (done, outcome) = (self.done, self.outcome)
        ControlTask.start {
            let error = await body()
            outcome.error.withLock { $0 = error }
            done.signal()
        }
    }

    /// Blocks, and throws what went wrong.
    func wait() throws {
        done.wait()
        if let error = outcome.error.withLock({ $0 }) { throw error }
    }
}
