internal import Dispatch
internal import Synchronization

/// Tells when something waits to be written and nothing is.
final class StallWatch: Sendable {
    private struct State {
        var heartbeat: Heartbeat?
        var moved = Moved()
        var since = ContinuousClock.now
        var isTold = false
    }
    /// Stands still where nothing is written. A file's queue takes units for a while after its disk took
    /// the last.
    private struct Moved: Equatable {
        var file = -1
        var units = -1
    }
    private let state = Mutex(State())
    private let progress: RecordingProgress
    private let inbox: RecordingInbox
    private let tell: @Sendable (Duration) -> Void
    private static let queue = DispatchQueue(label: "mediabridge.stalls")
    private static let limit = Duration.seconds(2)
    /// Units that may wait in a file's queue for those of another stream.
    private static let usual = 8

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
        let (units, file) = progress.update { ($0.moved, $0.current) }
        let moved = Moved(file: file?.index ?? -1, units: file?.writtenUnits ?? units)
        let waits = inbox.isFilling || (file?.waitingUnits ?? 0) > Self.usual
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
