internal import MediaBasics
internal import Synchronization

/// Wakes one waiting task. A signal sent while no task waits is kept for the next wait.
final class Signal: Sendable {
    private struct State {
        var isPending = false
        var waiter: CheckedContinuation<Void, Never>?
    }
    private let state = Mutex(State())

    /// Wakes the waiting task, if there is one. Thread: any.
    func signal() {
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            if state.waiter == nil { state.isPending = true }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Suspends until the next signal, or until the task is cancelled. One waiter at a time.
    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let resumesNow = state.withLock { state in
                    if state.isPending || Task.isCancelled {
                        state.isPending = false
                        return true
                    }
                    state.waiter = continuation
                    return false
                }
                if resumesNow { continuation.resume() }
            }
        } onCancel: {
            signal()
        }
    }
}

/// Waits for a pipeline to finish, as long as it makes progress.
struct ProgressWait {
    /// Limits of a wait.
    struct Limits {
        /// The longest time without progress.
        var standing: Duration
        /// The longest time in total; `nil` for no limit.
        var inAll: Duration?

        /// Limits after an error: data still inside the pipeline may be saved, but the wait is
        /// short. Also used if nothing seems to be left inside.
        static let afterError = Limits(
            standing: .seconds(1).asDefaultDeadline, inAll: .seconds(3).asDefaultDeadline)
    }

    /// Opened when the work is probably done.
    let signal: Latch

    /// Interval between two checks for progress.
    private static let glance = Duration.milliseconds(50)

    /// Suspends until the work is done.
    ///
    /// - Parameters:
    ///   - isDone: Whether the work is done.
    ///   - movement: A counter that changes with every step of progress.
    ///   - limits: The limits; read at every check.
    /// - Returns: False if a limit was reached first.
    func wait(
        until isDone: @Sendable () -> Bool, movement: @Sendable () -> Int,
        limits: @Sendable () -> Limits
    ) async -> Bool {
        let start = ContinuousClock.now
        var (moved, since) = (movement(), start)
        while !isDone() {
            if await signal.wait(for: Self.glance) { signal.reset() }
            let (now, count, limits) = (ContinuousClock.now, movement(), limits())
            if count != moved { (moved, since) = (count, now) }
            let isOver = limits.inAll.map { now - start >= $0 } ?? false
            if isOver || now - since >= limits.standing { return isDone() }
        }
        return true
    }
}

/// A counter that one thread at a time increments and any thread reads. It is cheaper than an
/// atomic addition, which only several concurrent writers need.
struct SingleWriterCounter: ~Copyable, Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .acquiring) }

    /// - Returns: The new count.
    @discardableResult
    borrowing func add() -> Int {
        let next = count.load(ordering: .relaxed) &+ 1
        count.store(next, ordering: .releasing)
        return next
    }

    borrowing func reset() { count.store(0, ordering: .releasing) }
}
