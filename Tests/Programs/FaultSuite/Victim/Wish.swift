import Synchronization

/// When a victim wanted its recording to end, and how.
final class Wish: Sendable {
    private struct State {
        var since: ContinuousClock.Instant?
        var body: (@Sendable () -> Void)?
    }
    private let state = Mutex(State())

    func onStop(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.body = body } }

    func note() { state.withLock { $0.since = $0.since ?? .now } }

    func stop() {
        note()
        state.withLock { $0.body }?()
    }

    /// Since then; 0 where nobody wished.
    var seconds: Double {
        guard let since = state.withLock({ $0.since }) else { return 0 }
        return (ContinuousClock.now - since) / .seconds(1)
    }
}
