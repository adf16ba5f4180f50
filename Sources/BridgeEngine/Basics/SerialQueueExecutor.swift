internal import MediaBasics

/// A serial queue with threads of its own, never the main one and never one of Swift's pool: where one
/// object of the program's lives, and is called.
final class SerialQueueExecutor: SerialExecutor {
    let queue: SerialQueue

    init(_ label: String) { queue = SerialQueue(label: "mediabridge.\(label)") }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        queue.async { job.runSynchronously(on: executor) }
    }

    func checkIsolated() { precondition(isCurrent, "not on \(queue.label)") }

    /// Whether the caller runs on it.
    var isCurrent: Bool { queue.isCurrent }
}
