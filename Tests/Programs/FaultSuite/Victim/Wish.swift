import Synchronization

/// When the victim requested the end of its recording, and how.
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

    /// The time since then; 0 without a request.
    var seconds: Double {
        guard let since = state.withLock({ $0.since }) else { return 0 }
        return (ContinuousClock.now - since) / .seconds(1)
    }
}
