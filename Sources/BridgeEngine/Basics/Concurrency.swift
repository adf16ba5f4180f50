internal import MediaBasics
internal import Synchronization

/// Starts tasks outside Swift's cooperative thread pool. Deadlines of the engine's calls then
/// expire in time even if the program keeps all threads of the pool busy.
package enum ControlTask {
    /// Runs the jobs of one task on a serial queue that nothing else uses.
    private final class Executor: TaskExecutor {
        private let queue = SerialQueue(label: "mediabridge.task")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            let executor = asUnownedTaskExecutor()
            queue.async { job.runSynchronously(on: executor) }
        }
    }

    /// Starts `body` as a detached task on a dedicated serial queue.
    @discardableResult
    package static func start(
        _ body: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never> {
        Task.detached(executorPreference: Executor(), operation: body)
    }

    /// Runs `body` and blocks the calling thread until it is done. Only for the synchronous calls of
    /// the protocols of sources and sinks: never in a task, on the main actor or on a streaming
    /// thread.
    package static func blocking<R: Sendable, E: Error>(
        _ body: @escaping @Sendable () async throws(E) -> R
    ) throws(E) -> R {
        let once = Once<Result<R, E>>()
        start {
            do throws(E) { once.resume(.success(try await body())) } catch {
                once.resume(.failure(error))
            }
        }
        return try once.wait()!.get()
    }
}

/// An executor on a serial queue with its own threads, never the main thread and never one of
/// Swift's cooperative pool. Each object of the program has one executor, on which it is called.
final class SerialQueueExecutor: SerialExecutor {
    let queue: SerialQueue

    init(_ label: String) { queue = SerialQueue(label: "mediabridge.\(label)") }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        queue.async { job.runSynchronously(on: executor) }
    }

    func checkIsolated() { precondition(isCurrent, "not on \(queue.label)") }

    /// Whether the caller runs on this executor.
    var isCurrent: Bool { queue.isCurrent }
}

/// Runs `body` and waits for it, but not longer than `limit`.
///
/// - Parameters:
///   - once: Receives the result. `nil` from elsewhere ends the wait.
///   - isCancellable: Whether the wait also ends when the task is cancelled. A wait that ends without
///     a result, as on timeout, then cancels `body`. False for work that must be completed.
///   - late: Called with the result if `body` returns after the wait has ended.
/// - Returns: What `body` returned or threw; `nil` if it did not finish in time. Unless it is
///   cancelled, `body` then continues without a waiting caller.
func outcome<R: Sendable>(
    within limit: Duration, on timeline: any Timeline,
    to once: Once<Result<R, EngineError>> = Once(), isCancellable: Bool = false,
    isolation: isolated (any Actor)? = #isolation,
    _ body: @escaping @Sendable () async throws(EngineError) -> R,
    late: @escaping @Sendable (R) async -> Void = { _ in }
) async -> Result<R, EngineError>? {
    once.expire(after: limit, on: timeline)
    let task = ControlTask.start {
        do throws(EngineError) {
            let value = try await body()
            if !once.resume(.success(value)) { await late(value) }
        } catch {
            once.resume(.failure(error))
        }
    }
    let result = await once.value(isCancellable: isCancellable)
    if result == nil, isCancellable { task.cancel() }
    return result
}

/// A weak reference to an object, for a callback that is created in the object's `init`.
///
/// Unchecked: set once, at the end of `init`, before the callback is called.
final class SelfReference<Object: AnyObject>: @unchecked Sendable {
    weak var object: Object?
}

extension Array where Element: AnyObject {
    /// Removes an object.
    ///
    /// - Returns: False if the object is not in the array.
    mutating func remove(_ object: Element) -> Bool {
        guard let place = firstIndex(where: { $0 === object }) else { return false }
        remove(at: place)
        return true
    }
}

// MARK: Operations

/// Serialises the operations of an actor, although each of them suspends. Operations run in the
/// order in which they called ``enter(isCancellable:isolation:)``. Thread: any.
final class Turnstile: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [Once<Bool>] = []
    }
    private let state = Mutex(State())

    /// Suspends until no other operation is inside, then enters.
    ///
    /// - Parameter isCancellable: Whether the wait ends when the task is cancelled.
    /// - Returns: False if the wait ended because of cancellation; the caller has not entered then.
    func enter(
        isCancellable: Bool = false, isolation: isolated (any Actor)? = #isolation
    ) async -> Bool {
        let turn = state.withLock { state -> Once<Bool>? in
            guard state.isTaken else {
                state.isTaken = true
                return nil
            }
            let turn = Once<Bool>()
            state.waiting.append(turn)
            return turn
        }
        guard let turn else { return true }
        return await turn.value(isCancellable: isCancellable) == true
    }

    func leave() {
        while let next = nextOrFree() {
            // `resume` returns false for a waiter that was cancelled; the next one is tried.
            if next.resume(true) { return }
        }
    }

    private func nextOrFree() -> Once<Bool>? {
        state.withLock { state in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.isTaken = false
            return nil
        }
    }
}
