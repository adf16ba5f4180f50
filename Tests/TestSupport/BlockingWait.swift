import Dispatch

/// Blocks the calling thread until a task that it starts is over; the task inherits the values of the
/// calling one.
public func blockingWait(_ body: @escaping @Sendable () async -> Void) {
    let done = DispatchSemaphore(value: 0)
    Task {
        await body()
        done.signal()
    }
    done.wait()
}
