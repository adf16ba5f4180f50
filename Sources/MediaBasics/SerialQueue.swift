internal import Dispatch
internal import Synchronization

/// Runs work in order, one piece at a time, off the caller's thread.
///
/// Each queue with work to do has a thread, however many other queues are blocked: `DispatchQueue`s share
/// 255 threads, and one more that has to run while those wait never does. Threads are lent, and given back
/// when the work is done. Thread: any.
package final class SerialQueue: Sendable {
    private struct State {
        var work = Fifo<@Sendable () -> Void>()
        var isScheduled = false
    }
    private let state = Mutex(State())
    /// The thread that runs the work now; zero for none.
    private let runner = Atomic<UInt>(0)
    /// For people who read a core dump.
    package let label: String

    package init(label: String) { self.label = label }

    /// Runs `body` behind what is there already.
    package func async(_ body: @escaping @Sendable () -> Void) {
        let needsThread = state.withLock { state in
            state.work.append(body)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if needsThread { WorkerThread.lend(to: self) }
    }

    /// Runs `body` on the caller's thread, behind what is there already. Not from the queue itself.
    package func sync<R>(_ body: () -> R) -> R {
        if takeTurn() {
            defer { endTurn() }
            return body()
        }
        let (turn, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        async {
            turn.signal()
            done.wait()
        }
        turn.wait()
        defer { done.signal() }
        return body()
    }

    /// - Returns: False where somebody else has it.
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

    /// Whether the caller runs on it.
    package var isCurrent: Bool { runner.load(ordering: .relaxed) == currentThread() }

    /// Runs what is there, until nothing is.
    func drain() {
        runner.store(currentThread(), ordering: .relaxed)
        while let body = next() { body() }
    }

    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            if let body = state.work.popFirst() { return body }
            // Another thread may come as soon as the lock is free.
            runner.store(0, ordering: .relaxed)
            state.isScheduled = false
            return nil
        }
    }
}
