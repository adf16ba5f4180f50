internal import Dispatch

/// Runs asynchronous work and blocks the calling control thread until it is done.
///
/// For the synchronous calls of the engine's protocols alone: never from a task, never from the main
/// actor, never from a streaming thread.
struct BlockingTask {
    private let done = DispatchSemaphore(value: 0)

    init(_ body: @escaping @Sendable () async -> Void) {
        let done = self.done
        Task.detached {
            await body()
            done.signal()
        }
    }

    func wait() { done.wait() }
}
