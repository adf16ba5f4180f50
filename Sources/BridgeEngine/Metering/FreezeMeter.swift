internal import MediaCore
internal import Synchronization

/// Counts the freezes: intervals of more than half a second between two rendered frames. Thread:
/// any.
final class FreezeMeter: Sendable {
    private struct State {
        var last: MediaTime?
        var count = 0
        var total = MediaTime.zero
    }
    private let state = Mutex(State())
    private static let limit = MediaTime(seconds: 0.5)

    func note(at now: MediaTime) {
        state.withLock { state in
            if let last = state.last, now - last > Self.limit {
                state.count += 1
                state.total = state.total + (now - last)
            }
            state.last = now
        }
    }

    /// Does not count the interval until the next frame, because the renderer or the sender was
    /// stopped.
    func pause() { state.withLock { $0.last = nil } }

    var all: (count: Int, total: Duration) { state.withLock { ($0.count, $0.total.duration) } }
}
