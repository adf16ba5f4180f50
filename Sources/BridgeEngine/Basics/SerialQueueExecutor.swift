internal import MediaBasics

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
