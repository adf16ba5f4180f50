internal import Synchronization

/// The units of a run that a loop over frames read and that gave none, by cause. Thread: any.
final class UndecodedUnits: Sendable {
    private struct State {
        weak var decoding: UnitDecoding?
        var past = DropCounts()
    }
    private let state = Mutex(State())

    /// Begins to count those of a decoder.
    func begin(_ decoding: UnitDecoding) { state.withLock { $0.decoding = decoding } }

    /// Keeps the counts of the present decoder, which is released.
    func settle() {
        state.withLock { state in
            guard let decoding = state.decoding else { return }
            state.past = state.past + decoding.lost
            state.decoding = nil
        }
    }

    func note(_ cause: DropCause) { state.withLock { $0.past[cause] += 1 } }

    /// Forgets an earlier run.
    func reset() { state.withLock { $0 = State() } }

    var counts: DropCounts {
        state.withLock { state in state.decoding.map { state.past + $0.lost } ?? state.past }
    }
}
