internal import Dispatch
internal import Synchronization

/// Where writers wait for room in a bounded queue: tasks suspended, streaming threads blocked.
///
/// The queue's writer calls ``entered()`` for each element that it put in, its reader ``departed()``
/// for each that it took; that costs an atomic addition while nobody waits. It knows the queue by these
/// counts alone, and holds nothing: the reader may hold it for ever.
final class BackpressureGate: Sendable {
    private enum Waiter: Sendable {
        case task(Int, CheckedContinuation<JoinAttempt, Never>)
        case thread(DispatchSemaphore)
    }
    private struct Waiters: Sendable {
        /// The first thread; mostly there is no other waiter.
        var thread: DispatchSemaphore?
        var others: [Waiter] = []

        var isEmpty: Bool { thread == nil && others.isEmpty }

        mutating func add(_ waiter: Waiter) {
            if case .thread(let semaphore) = waiter, thread == nil {
                thread = semaphore
            } else {
                others.append(waiter)
            }
        }

        func wake() {
            thread?.signal()
            for other in others {
                switch other {
                case .task(_, let continuation): continuation.resume(returning: .joined)
                case .thread(let semaphore): semaphore.signal()
                }
            }
        }

        /// Takes a task out that waits no longer.
        mutating func remove(_ id: Int) -> CheckedContinuation<JoinAttempt, Never>? {
            for (index, other) in others.enumerated() {
                guard case .task(id, let continuation) = other else { continue }
                others.remove(at: index)
                return continuation
            }
            return nil
        }
    }
    private struct State {
        var waiters = Waiters()
        var isClosed = false
        /// Of the task that waited last.
        var lastTask = 0
        /// Signalled as often as waited for, so that the next to wait may have it.
        var spare: DispatchSemaphore?
    }
    private let state = Mutex(State())
    private let entries = SingleWriterCounter()
    private let departures = Atomic<Int>(0)
    /// The departure that wakes the waiters.
    private let wakingDeparture = Atomic<Int>(.max)
    private let depth: Atomic<Int>

    /// - Parameter depth: How many elements may be in the queue.
    init(depth: Int) { self.depth = Atomic(max(1, depth)) }

    func setDepth(_ depth: Int) { self.depth.store(max(1, depth), ordering: .relaxed) }

    /// Elements that were put in.
    var enteredElements: Int { entries.value }

    /// Elements that were taken out by the reader. Less than those that entered where the queue itself
    /// drops some.
    var departedElements: Int { departures.load(ordering: .relaxed) }

    /// Whether somebody waits.
    var isWaitedFor: Bool { state.withLock { !$0.waiters.isEmpty } }

    /// Ends all waiting, now and later.
    func close() {
        let waiters = state.withLock { state in
            state.isClosed = true
            return takeWaiters(&state)
        }
        waiters.wake()
    }

    /// Lets waiting begin anew, with an empty queue that nobody reads yet.
    func reopen() {
        state.withLock { $0.isClosed = false }
        entries.reset()
        departures.store(0, ordering: .relaxed)
    }

    /// Tells that an element is in the queue. Any thread, one at a time.
    func entered() { entries.add() }

    /// Tells that an element left the queue. Any thread.
    func departed() {
        let count = departures.add(1, ordering: .sequentiallyConsistent).newValue
        guard count >= wakingDeparture.load(ordering: .sequentiallyConsistent) else { return }
        let waiters = state.withLock { takeWaiters(&$0) }
        waiters.wake()
    }

    /// Suspends until there is room.
    ///
    /// - Parameter level: How many elements are in the queue now.
    /// - Returns: False where the room was closed.
    /// - Throws: `CancellationError` in a task that was cancelled, where there is no room at once.
    func wait(level: @Sendable () -> Int) async throws -> Bool {
        while !hasRoom(level) {
            let id = state.withLock { state in
                state.lastTask += 1
                return state.lastTask
            }
            let joining = await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    // Cancelled before it has joined, it is told here; after that, by the handler.
                    let joining = join(level) { _ in
                        Task.isCancelled ? nil : .task(id, continuation)
                    }
                    if joining != .joined { continuation.resume(returning: joining) }
                }
            } onCancel: {
                let waiter = state.withLock { $0.waiters.remove(id) }
                waiter?.resume(returning: .cancelled)
            }
            switch joining {
            case .closed: return false
            case .cancelled: throw CancellationError()
            case .joined, .room: continue
            }
        }
        return true
    }

    /// Blocks the calling streaming thread until there is room.
    ///
    /// - Parameter level: How many elements are in the queue now.
    /// - Returns: False where the room was closed.
    func waitOnThread(level: () -> Int) -> Bool {
        while !hasRoom(level) {
            var semaphore: DispatchSemaphore?
            let result = join(level) { state in
                let own = state.spare.take() ?? DispatchSemaphore(value: 0)
                semaphore = own
                return .thread(own)
            }
            switch result {
            case .room: continue
            case .closed, .cancelled: return false
            case .joined:
                semaphore?.wait()
                state.withLock { [semaphore] in $0.spare = semaphore }
            }
        }
        return true
    }

    /// Whether there is room by the counts alone: those have elements that the queue itself dropped as
    /// still there, so there may be room where this is false, and there is where it is true.
    var hasRoomByCount: Bool {
        entries.value - departures.load(ordering: .relaxed)
            < depth.load(ordering: .relaxed)
    }

    /// Whether there is room now.
    ///
    /// - Parameter level: How many elements are in the queue now.
    func hasRoom(_ level: () -> Int) -> Bool {
        hasRoomByCount || level() < depth.load(ordering: .relaxed)
    }

    /// What became of a wish to wait.
    private enum JoinAttempt: Sendable { case joined, room, closed, cancelled }

    /// Queues a waiter, unless there is room by now or the room is closed.
    ///
    /// Nobody is forgotten: the waking departure is set before the departures are read again, and
    /// ``departed()`` counts before it reads the waking departure: one of the two sees the other. And
    /// it comes: no more departures are waited for than there are elements to depart.
    private func join(_ level: () -> Int, _ waiter: (inout State) -> Waiter?) -> JoinAttempt {
        state.withLock { state in
            guard !state.isClosed else { return .closed }
            let before = departures.load(ordering: .sequentiallyConsistent)
            let depth = depth.load(ordering: .relaxed)
            let level = level()
            guard level >= depth else { return .room }
            guard let waiter = waiter(&state) else { return .cancelled }
            // Who waits already is to be woken, and takes this one along.
            if state.waiters.isEmpty {
                // Half empty, so that a fast writer is not woken for every single element.
                let target = before + min(depth, max(1, level - depth / 2))
                wakingDeparture.store(target, ordering: .sequentiallyConsistent)
                guard departures.load(ordering: .sequentiallyConsistent) < target else {
                    wakingDeparture.store(.max, ordering: .sequentiallyConsistent)
                    return .room
                }
            }
            state.waiters.add(waiter)
            return .joined
        }
    }

    private func takeWaiters(_ state: inout State) -> Waiters {
        wakingDeparture.store(.max, ordering: .sequentiallyConsistent)
        defer { state.waiters = Waiters() }
        return state.waiters
    }
}
