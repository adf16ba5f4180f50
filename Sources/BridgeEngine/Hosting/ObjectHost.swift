internal import Synchronization

/// Where one object of the program's lives: the only place that calls it, one call at a time, on a executor
/// of its own.
protocol ObjectHost: Actor {
    nonisolated var executor: SerialQueueExecutor { get }
    /// In the trace: `source 1`.
    nonisolated var name: String { get }
    /// The object's own type.
    nonisolated var typeName: String { get }
    /// Of the object.
    nonisolated var identity: ObjectIdentifier { get }
    nonisolated var trace: TransitionTrace { get }
    nonisolated var retirement: Retirement { get }

    /// Makes one call of the state machine. What has no place in the present state does nothing.
    func make(_ call: Transition.Call) throws(EngineError)

    /// No frame goes in or out any more.
    nonisolated func shut()

    /// How a failure that stops nothing is told.
    nonisolated func failureEvent(_ error: EngineError) -> EngineEvent
}

/// Whether an object was given up on, because one of its calls did not return.
final class Retirement: Sendable {
    private enum Stage { static let (none, givenUp, putAway) = (0, 1, 2) }
    private let stage = Atomic<Int>(Stage.none)

    /// Given up on, and its call has not returned.
    var isGivenUp: Bool { stage.load(ordering: .acquiring) != Stage.none }
    /// Its call returned after all, and it was stopped and disposed of.
    var isOver: Bool { stage.load(ordering: .acquiring) == Stage.putAway }

    fileprivate func begin() { stage.store(Stage.givenUp, ordering: .releasing) }
    fileprivate func end() { stage.store(Stage.putAway, ordering: .releasing) }

    /// It may be called again, where its call returned after all.
    func forgive() {
        _ = stage.compareExchange(
            expected: Stage.putAway, desired: Stage.none, ordering: .acquiringAndReleasing)
    }
}

extension ObjectHost {
    nonisolated var isGivenUp: Bool { retirement.isGivenUp }

    /// Gives the object up: no frame comes from it or goes to it any more, and it is stopped and disposed
    /// of as soon as the call that is under way returns.
    nonisolated func retire() {
        retirement.begin()
        shut()
        executor.queue.async { self.assumeIsolated { $0.putAway() } }
    }

    private func putAway() {
        // Nobody is left to tell.
        try? make(.stop)
        try? make(.dispose)
        retirement.end()
    }
}
