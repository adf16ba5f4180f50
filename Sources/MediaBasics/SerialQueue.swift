internal import Dispatch
internal import Glibc
internal import Synchronization

/// Runs work items in order, one at a time, off the caller's thread.
///
/// Each queue that has work gets a thread, however many other queues are blocked. `DispatchQueue`s
/// share 255 threads: if all of them wait for work on one more queue, that work never runs. Threads
/// come from a pool, and return to it when the work is done. Thread: any.
package final class SerialQueue: Sendable {
    private struct State {
        var work = Fifo<@Sendable () -> Void>()
        var isScheduled = false
    }
    private let state = Mutex(State())
    /// Identifier of the thread that runs the work now; zero if there is none.
    private let runner = Atomic<UInt>(0)
    /// Name of the queue, for core dumps.
    package let label: String

    package init(label: String) { self.label = label }

    /// Enqueues `body` behind the work that is already queued, and returns at once.
    package func async(_ body: @escaping @Sendable () -> Void) {
        let needsThread = state.withLock { state in
            state.work.append(body)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if needsThread { WorkerThread.lend(to: self) }
    }

    /// Runs `body` on the caller's thread, after the work that is already queued; blocks until
    /// then. Must not be called from the queue itself.
    package func sync<R>(_ body: () -> R) -> R {
        if let result = runIfIdle(body) { return result }
        let (turn, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        async { [self] in
            turn.signal()
            done.wait()
            runner.store(currentThread(), ordering: .relaxed)
        }
        turn.wait()
        runner.store(currentThread(), ordering: .relaxed)
        defer {
            runner.store(0, ordering: .relaxed)
            done.signal()
        }
        return body()
    }

    /// Runs `body` on the caller's thread if the queue is idle.
    ///
    /// - Returns: `nil` if the queue has work.
    package func runIfIdle<R>(_ body: () -> R) -> R? {
        guard takeTurn() else { return nil }
        defer { endTurn() }
        return body()
    }

    /// Reserves an idle queue for the calling thread.
    ///
    /// - Returns: False if another thread uses the queue.
    private func takeTurn() -> Bool {
        state.withLock { state in
            guard !state.isScheduled else { return false }
            state.isScheduled = true
            runner.store(currentThread(), ordering: .relaxed)
            return true
        }
    }

    private func endTurn() {
        let hasWork = state.withLock { state in
            runner.store(0, ordering: .relaxed)
            state.isScheduled = !state.work.isEmpty
            return state.isScheduled
        }
        if hasWork { WorkerThread.lend(to: self) }
    }

    /// Whether the caller runs on this queue.
    package var isCurrent: Bool { runner.load(ordering: .relaxed) == currentThread() }

    /// Runs queued work until there is none.
    func drain() {
        runner.store(currentThread(), ordering: .relaxed)
        while let body = linger() ?? next() { body() }
    }

    /// Waits a few microseconds for more work, because waking a sleeping thread costs more than
    /// passing a frame on. At the frame rate of a camera none comes, and the wait costs little.
    private func linger() -> (@Sendable () -> Void)? {
        for _ in 0..<10 {
            if let body = state.withLock({ $0.work.popFirst() }) { return body }
            sched_yield()
        }
        return nil
    }

    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            if let body = state.work.popFirst() { return body }
            // Another thread may start to drain the queue as soon as the lock is released.
            runner.store(0, ordering: .relaxed)
            state.isScheduled = false
            return nil
        }
    }
}
