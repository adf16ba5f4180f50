internal import MediaBasics

/// Starts tasks outside Swift's cooperative thread pool. Deadlines of the engine's calls then
/// expire in time even if the program keeps all threads of the pool busy.
package enum ControlTask {
    /// Runs the jobs of one task on a serial queue that nothing else uses.
    private final class Executor: TaskExecutor {
        private let queue = SerialQueue(label: "mediabridge.task")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            let executor = asUnownedTaskExecutor()
            queue.async { job.runSynchronously(on: executor) }
        }
    }

    /// Starts `body` as a detached task on a dedicated serial queue.
    @discardableResult
    package static func start(
        _ body: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never> {
        Task.detached(executorPreference: Executor(), operation: body)
    }
}
