internal import Dispatch
internal import Synchronization

/// Tells when something waits to be written and nothing is.
final class StallWatch: Sendable {
    private struct State {
        var heartbeat: Heartbeat?
        var moved = -1
        var since = ContinuousClock.now
        var isTold = false
    }
    private let state = Mutex(State())
    private let progress: RecordingProgress
    private let inbox: RecordingInbox
    private let tell: @Sendable (Duration) -> Void
    private static let queue = DispatchQueue(label: "mediabridge.stalls")
    private static let limit = Duration.seconds(2)

    init(
        progress: RecordingProgress, inbox: RecordingInbox,
        tell: @escaping @Sendable (Duration) -> Void
    ) {
        self.progress = progress
        self.inbox = inbox
        self.tell = tell
    }

    func begin() {
        let heartbeat = Heartbeat(every: .milliseconds(500), on: Self.queue) { [weak self] in
            self?.look()
        }
        state.withLock { $0.heartbeat = heartbeat }
    }

    func end() { state.withLock { $0.heartbeat = nil } }

    private func look() {
        let moved = progress.update { $0.moved }
        let waits = inbox.isFilling
        let told = state.withLock { state -> Duration? in
            if moved != state.moved || !waits {
                state.moved = moved
                state.since = .now
                state.isTold = false
                return nil
            }
            let stalled = ContinuousClock.now - state.since
            guard stalled >= Self.limit, !state.isTold else { return nil }
            state.isTold = true
            return stalled
        }
        if let told { tell(told) }
    }
}
