import Dispatch

/// Blocks the calling thread until a new task has run `body`; the task inherits the task-local
/// values of the caller.
public func blockingWait(_ body: @escaping @Sendable () async -> Void) {
    let done = DispatchSemaphore(value: 0)
    Task {
        await body()
        done.signal()
    }
    done.wait()
}
