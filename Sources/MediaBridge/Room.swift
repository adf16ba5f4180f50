internal import Dispatch
internal import Synchronization

/// Where writers wait for room in a bounded queue: tasks suspended, streaming threads blocked.
///
/// The queue's reader calls ``departed()`` for each element that it took; that costs one atomic load
/// while nobody waits.
final class Room: Sendable {
    private enum Waiter: Sendable {
        case task(CheckedContinuation<Void, Never>)
        case thread(DispatchSemaphore)

        func wake() {
            switch self {
            case .task(let continuation): continuation.resume()
            case .thread(let semaphore): semaphore.signal()
            }
        }
    }
    private struct State {
        var waiters: [Waiter] = []
        var isClosed = false
    }
    private let state = Mutex(State())
    private let hasWaiters = Atomic<Bool>(false)
    private let level: @Sendable () -> Int
    private let depth = Atomic<Int>(1)

    /// - Parameter level: How many elements are in the queue now.
    init(level: @escaping @Sendable () -> Int) { self.level = level }

    /// How many elements may be in the queue.
    func setDepth(_ depth: Int) { self.depth.store(max(1, depth), ordering: .relaxed) }

    /// Ends all waiting, now and later.
    func close() {
        let waiters = state.withLock { state in
            state.isClosed = true
            defer { state.waiters = [] }
            return state.waiters
        }
        waiters.forEach { $0.wake() }
    }

    /// Lets waiting begin anew.
    func reopen() { state.withLock { $0.isClosed = false } }

    /// Tells that an element left the queue. Any thread.
    func departed() {
        guard hasWaiters.load(ordering: .sequentiallyConsistent) else { return }
        // Half empty, so that a fast writer is not woken for every single element.
        guard level() <= depth.load(ordering: .relaxed) / 2 else { return }
        let waiters = state.withLock { state in
            hasWaiters.store(false, ordering: .sequentiallyConsistent)
            defer { state.waiters = [] }
            return state.waiters
        }
        waiters.forEach { $0.wake() }
    }

    /// Suspends until there is room.
    ///
    /// - Returns: False where the room was closed.
    func wait() async -> Bool {
        while !hasRoom {
            await withCheckedContinuation { continuation in
                if !join(.task(continuation)) { continuation.resume() }
            }
            if isClosed { return false }
        }
        return !isClosed
    }

    /// Blocks the calling streaming thread until there is room.
    ///
    /// - Returns: False where the room was closed.
    func waitOnThread() -> Bool {
        while !hasRoom {
            let semaphore = DispatchSemaphore(value: 0)
            if join(.thread(semaphore)) { semaphore.wait() }
            if isClosed { return false }
        }
        return !isClosed
    }

    private var hasRoom: Bool { level() < depth.load(ordering: .relaxed) }

    private var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Queues a waiter, unless there is room by now or the room is closed. The flag goes up before the
    /// level is read, and ``departed()`` reads it after the level fell: one of the two sees the other.
    private func join(_ waiter: Waiter) -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            hasWaiters.store(true, ordering: .sequentiallyConsistent)
            guard !hasRoom else {
                hasWaiters.store(!state.waiters.isEmpty, ordering: .sequentiallyConsistent)
                return false
            }
            state.waiters.append(waiter)
            return true
        }
    }
}
