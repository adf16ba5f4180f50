internal import Dispatch

/// A serial queue with threads of its own, never the main one and never one of Swift's pool: where one
/// object of the program's lives, and is called.
final class Lane: SerialExecutor {
    let queue: DispatchQueue
    private static let key = DispatchSpecificKey<ObjectIdentifier>()

    init(_ label: String) {
        queue = DispatchQueue(label: "mediabridge.\(label)")
        queue.setSpecific(key: Self.key, value: ObjectIdentifier(self))
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        queue.async { job.runSynchronously(on: executor) }
    }

    func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }

    /// Whether the caller runs on it.
    var isCurrent: Bool {
        DispatchQueue.getSpecific(key: Self.key) == ObjectIdentifier(self)
    }
}
