internal import Dispatch
internal import Synchronization

/// Admits queries of other pipelines' streaming threads to the elements of a pipeline.
///
/// Elements expect an allocation query only from READY on, when their device is open: some crash
/// before and after. Within one pipeline no such query reaches them there, because the elements
/// upstream are not running.
final class QueryGate: Sendable {
    private enum State { case new, ready, closed }
    private let state = Mutex(State.new)
    private let inside = DispatchGroup()

    /// Runs a caps query, which elements answer in every state, unless the pipeline is being set to
    /// NULL or was.
    ///
    /// - Returns: `nil` if the query was not admitted.
    func admitCapsQuery<R>(_ query: () -> R?) -> R? {
        guard enter(if: { $0 != .closed }) else { return nil }
        defer { inside.leave() }
        return query()
    }

    /// Runs an allocation query if every element of the pipeline has reached READY.
    ///
    /// - Returns: False if the query was not admitted.
    func admitAllocationQuery(_ query: () -> Bool) -> Bool {
        guard enter(if: { $0 == .ready }) else { return false }
        defer { inside.leave() }
        return query()
    }

    private func enter(if isAdmitted: (State) -> Bool) -> Bool {
        state.withLock { state in
            guard isAdmitted(state) else { return false }
            inside.enter()
            return true
        }
    }

    /// Admits queries: every element has reached READY.
    func open() { state.withLock { $0 = .ready } }

    /// Admits no more queries.
    func close() { state.withLock { $0 = .closed } }

    /// Whether no query is running.
    var isEmpty: Bool { inside.wait(timeout: .now()) == .success }

    /// Blocks until no query is running.
    func waitUntilEmpty() { inside.wait() }
}
