public import MediaCore
internal import Synchronization

/// Owns one object of the program and is its only caller: one call at a time, on a dedicated
/// executor.
protocol ObjectHost<Endpoint>: Actor {
    /// `any VideoSource`, `any AudioSource`, `any VideoSink` or `any AudioSink`.
    associatedtype Endpoint
    nonisolated var executor: SerialQueueExecutor { get }
    /// The object's name in the trace, for example `source 1`.
    nonisolated var name: String { get }
    /// The name of the object's type.
    nonisolated var typeName: String { get }
    /// The identity of the object.
    nonisolated var identity: ObjectIdentifier { get }
    nonisolated var retirement: Retirement { get }
    /// What the object is to the engine, `source` or `sink`, for messages.
    nonisolated var role: String { get }

    /// Makes one lifecycle call. A call that does not apply to the current stage does nothing.
    func make(_ call: Transition.Call) throws(EngineError)

    /// Runs `body` with the object, on the host's executor.
    func perform<R: Sendable>(_ body: @Sendable (Endpoint) throws -> R) rethrows -> R

    /// Closes the port or feed: no frame goes in or out any more.
    nonisolated func shut()

    /// Returns the event that reports a failure after which the engine continues.
    nonisolated func failureEvent(_ error: EngineError) -> EngineEvent
}

/// A reference to a source or sink that the engine owns.
public struct EndpointReference<Endpoint>: Sendable {
    let host: any ObjectHost<Endpoint>

    /// Returns whether the reference is to this object.
    public func refers(to object: any MediaEndpoint) -> Bool {
        ObjectIdentifier(object) == host.identity
    }

    /// Runs `body` with the object, on the only thread that calls the object, between two of the
    /// engine's calls. It waits while such a call is running.
    public func perform<R: Sendable>(
        _ body: @Sendable (Endpoint) throws -> R
    ) async rethrows -> R {
        try await host.perform(body)
    }
}

/// Whether the engine has given up on an object because one of its calls did not return.
final class Retirement: Sendable {
    private enum Stage { static let (none, givenUp, disposed) = (0, 1, 2) }
    private let stage = Atomic<Int>(Stage.none)

    /// Whether the object was given up and may not be called.
    var isGivenUp: Bool { stage.load(ordering: .acquiring) != Stage.none }
    /// Whether the call returned after all, and the object was stopped and disposed of.
    var isOver: Bool { stage.load(ordering: .acquiring) == Stage.disposed }

    fileprivate func begin() { stage.store(Stage.givenUp, ordering: .releasing) }
    fileprivate func end() { stage.store(Stage.disposed, ordering: .releasing) }

    /// Allows calls again if the overdue call has returned and the object was disposed of.
    func forgive() {
        _ = stage.compareExchange(
            expected: Stage.disposed, desired: Stage.none, ordering: .acquiringAndReleasing)
    }
}

extension ObjectHost {
    nonisolated var isGivenUp: Bool { retirement.isGivenUp }

    /// Gives up on the object: no frame comes from it or goes to it any more, and it is stopped and
    /// disposed of as soon as the running call returns.
    nonisolated func retire() {
        retirement.begin()
        shut()
        executor.queue.async { self.assumeIsolated { $0.stopAndDispose() } }
    }

    private func stopAndDispose() {
        // Errors are ignored: no caller waits for the result.
        try? make(.stop)
        try? make(.dispose)
        retirement.end()
    }
}
