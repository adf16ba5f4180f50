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

/// An executor on a serial queue with its own threads, never the main thread and never one of
/// Swift's cooperative pool. Each object of the program has one executor, on which it is called.
final class SerialQueueExecutor: SerialExecutor {
    let queue: SerialQueue

    init(_ label: String) { queue = SerialQueue(label: "mediabridge.\(label)") }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        queue.async { job.runSynchronously(on: executor) }
    }

    func checkIsolated() { precondition(isCurrent, "not on \(queue.label)") }

    /// Whether the caller runs on this executor.
    var isCurrent: Bool { queue.isCurrent }
}
