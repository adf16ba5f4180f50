internal import MediaBasics
internal import Synchronization

/// Tracks which branches of an output have writers. Thread: any.
final class OutputWriters: Sendable {
    /// The state of the other writers when one finishes.
    enum OtherWriters {
        case othersRun
        /// No other writer runs, but one exists that has not begun in this run.
        case othersMayBegin
        case isLast
    }
    private struct State {
        /// Branches that have a writer.
        var expected: Set<String> = []
        /// Branches whose writer began in this run.
        var begun: Set<String> = []
        /// Branches whose writer began and has not finished.
        var running: Set<String> = []
    }
    private let state = Mutex(State())
    /// Opened when a writer begins or is released.
    let changes = Latch()

    func add(_ name: String) { state.withLock { _ = $0.expected.insert(name) } }

    func remove(_ name: String) {
        state.withLock { state in
            state.expected.remove(name)
            state.running.remove(name)
        }
        changes.open()
    }

    func isExpected(_ name: String) -> Bool { state.withLock { $0.expected.contains(name) } }
    func isRunning(_ name: String) -> Bool { state.withLock { $0.running.contains(name) } }

    /// Whether a writer has begun in this run.
    var hasBegun: Bool { state.withLock { !$0.begun.isEmpty } }

    /// Whether a writer exists that has not begun in this run.
    var isAnyAwaited: Bool { state.withLock { !$0.expected.isSubset(of: $0.begun) } }

    /// Whether another writer has begun in this run, finished or not.
    func hasBegun(besides name: String) -> Bool {
        state.withLock { !$0.begun.subtracting([name]).isEmpty }
    }

    /// Notes that a writer begins.
    ///
    /// - Parameter open: Opens its branch. Called by one writer at a time, under the lock; returns
    ///   whether a run of the output begins with it.
    /// - Returns: What `open` returned.
    func begin(_ name: String, _ open: () -> Bool) -> Bool {
        defer { changes.open() }
        return state.withLock { state in
            let isFirst = open()
            if isFirst { (state.begun, state.running) = ([], []) }
            state.begun.insert(name)
            state.running.insert(name)
            return isFirst
        }
    }

    func finish(_ name: String) -> OtherWriters {
        state.withLock { state in
            state.running.remove(name)
            if !state.running.isEmpty { return .othersRun }
            return state.expected.isSubset(of: state.begun) ? .isLast : .othersMayBegin
        }
    }
}
