internal import Dispatch
internal import Synchronization

/// Lets writers wait for room in a bounded queue: tasks are suspended, streaming threads are
/// blocked.
///
/// The queue's writer calls ``entered()`` for each element that it put in, its reader calls
/// ``departed()`` for each that it took out; this costs one atomic addition while no writer waits.
/// The gate knows the queue only by these counts and retains no part of it, so the reader may
/// retain the gate forever.
final class BackpressureGate: Sendable {
    private enum Waiter: Sendable {
        case task(Int, CheckedContinuation<JoinAttempt, Never>)
        case thread(DispatchSemaphore)
    }
    private struct Waiters: Sendable {
        /// The first thread that waits; usually there is no other waiter.
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

        /// Removes a task that no longer waits, and returns its continuation.
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
        /// Identifier of the task that waited last.
        var lastTask = 0
        /// Its signals and waits are balanced, so that the next waiter can reuse it.
        var spare: DispatchSemaphore?
    }
    private let state = Mutex(State())
    private let entries = SingleWriterCounter()
    private let departures = Atomic<Int>(0)
    /// The number of departures at which the waiters are woken.
    private let wakingDeparture = Atomic<Int>(.max)
    /// The number of elements with which the queue is full; 0 if only the queue itself knows.
    private let depth = Atomic<Int>(0)

    /// The number of elements in a queue now, and whether the queue is full.
    typealias Level = (buffers: Int, isFull: Bool)

    /// Sets when the queue is full, so that no other query is necessary if only numbers decide.
    func setLimit(_ limit: QueueLimit) {
        let isByNumber = limit.bytes == nil && limit.time == nil
        depth.store(isByNumber ? limit.buffers ?? .max : 0, ordering: .relaxed)
    }

    /// Elements that were put into the queue.
    var enteredElements: Int { entries.value }

    /// Elements that the reader took out. Fewer than the entered elements if the queue itself drops
    /// some.
    var departedElements: Int { departures.load(ordering: .relaxed) }

    /// Whether a writer waits.
    var isWaitedFor: Bool { state.withLock { !$0.waiters.isEmpty } }

    /// Closes the gate: wakes all waiters, and later calls do not wait.
    func close() {
        let waiters = state.withLock { state in
            state.isClosed = true
            return takeWaiters(&state)
        }
        waiters.wake()
    }

    /// Opens the gate again and resets the counts. The queue must be empty and must not be read
    /// yet.
    func reopen() {
        state.withLock { $0.isClosed = false }
        entries.reset()
        departures.store(0, ordering: .relaxed)
    }

    /// Counts an element that was put into the queue. Any thread, one at a time.
    func entered() { entries.add() }

    /// Counts an element that left the queue. Any thread.
    func departed() {
        let count = departures.add(1, ordering: .sequentiallyConsistent).newValue
        guard count >= wakingDeparture.load(ordering: .sequentiallyConsistent) else { return }
        let waiters = state.withLock { takeWaiters(&$0) }
        waiters.wake()
    }

    /// Suspends until there is room.
    ///
    /// - Parameter level: Returns the level of the queue now.
    /// - Returns: False if the gate was closed.
    /// - Throws: ``PipelineError/Code/interrupted`` in a cancelled task, if there is no room at once.
    func wait(level: @Sendable () -> Level) async throws(PipelineError) -> Bool {
        while !hasRoom(level) {
            let id = state.withLock { state in
                state.lastTask += 1
                return state.lastTask
            }
            let joining = await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    // A task that is cancelled before it has joined is resumed here; later, by the
                    // handler.
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
            case .cancelled: throw PipelineError(.interrupted, message: "the write was cancelled")
            case .joined, .room: continue
            }
        }
        return true
    }

    /// Blocks the calling streaming thread until there is room.
    ///
    /// - Parameter level: Returns the level of the queue now.
    /// - Returns: False if the gate was closed.
    func waitOnThread(level: () -> Level) -> Bool {
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

    /// Whether there is room according to the counts. They count elements that the queue itself
    /// dropped as still present, and say nothing about bytes and times: there may be room if this is
    /// false, and there is room if it is true.
    var hasRoomByCount: Bool {
        entries.value - departures.load(ordering: .relaxed)
            < depth.load(ordering: .relaxed)
    }

    /// The level according to the counts: that of a queue that drops nothing.
    var levelByCount: Level {
        (entries.value - departures.load(ordering: .relaxed), !hasRoomByCount)
    }

    /// Whether there is room now.
    ///
    /// - Parameter level: Returns the level of the queue now.
    func hasRoom(_ level: () -> Level) -> Bool { hasRoomByCount || !level().isFull }

    /// The result of an attempt to wait.
    private enum JoinAttempt: Sendable { case joined, room, closed, cancelled }

    /// Adds a waiter, unless there is room by now or the gate is closed.
    ///
    /// No wake-up is lost: the waking departure is set before the departures are read again, and
    /// ``departed()`` counts before it reads the waking departure, so one of the two sees the
    /// other. The waking departure is always reached: it needs no more departures than there are
    /// elements in the queue.
    private func join(_ level: () -> Level, _ waiter: (inout State) -> Waiter?) -> JoinAttempt {
        state.withLock { state in
            guard !state.isClosed else { return .closed }
            let before = departures.load(ordering: .sequentiallyConsistent)
            let level = level()
            guard level.isFull else { return .room }
            guard let waiter = waiter(&state) else { return .cancelled }
            // If others wait already, a wake-up is set, and it wakes this waiter, too.
            if state.waiters.isEmpty {
                // Wakes when the queue is half empty, so that a fast writer is not woken for every
                // element.
                let target = before + (level.buffers + 1) / 2
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
