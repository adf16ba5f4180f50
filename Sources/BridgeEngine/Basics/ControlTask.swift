internal import MediaBasics

/// A task that does not depend on Swift's pool: a program that keeps all of the pool's threads busy
/// makes no deadline of a call pass.
package enum ControlTask {
    /// Runs one task's own code, on a thread that nothing else uses.
    private final class Executor: TaskExecutor {
        private let queue = SerialQueue(label: "mediabridge.task")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            let executor = asUnownedTaskExecutor()
            queue.async { job.runSynchronously(on: executor) }
        }
    }

    /// Starts `body`.
    @discardableResult
    package static func start(
        _ body: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never> {
        Task.detached(executorPreference: Executor(), operation: body)
    }
}
