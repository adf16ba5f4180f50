internal import MediaBasics
internal import Synchronization

/// Measures twice a second how fast a recording is written, and reports a stall: data is queued,
/// but nothing is written.
final class RecordingWatch: Sendable {
    private struct State {
        var heartbeat: Heartbeat?
        var moved = Moved()
        var since = Duration.zero
        var isTold = false
        /// Byte counts at the last checks, for the rate.
        var sizes: [(bytes: Int, time: Duration)] = []
    }
    /// Does not change while nothing is written. The units that a file's queue accepts do not
    /// count: it accepts some for a while after the disk has stopped.
    private struct Moved: Equatable {
        var file = -1
        var units = -1
    }
    private let state = Mutex(State())
    private let progress: RecordingProgress
    private let inbox: RecordingInbox
    private let clock: any Timeline
    private let tell: @Sendable (Duration) -> Void
    private static let queue = SerialQueue(label: "mediabridge.stalls")
    private static let limit = Duration.seconds(2)
    private static let looks = 5
    /// Number of units that may normally wait in a file's queue for another stream's units.
    private static let usual = 8

    init(
        progress: RecordingProgress, inbox: RecordingInbox, clock: any Timeline,
        tell: @escaping @Sendable (Duration) -> Void
    ) {
        self.progress = progress
        self.inbox = inbox
        self.clock = clock
        self.tell = tell
    }

    func begin() {
        let heartbeat = Heartbeat(every: .milliseconds(500), on: Self.queue, of: clock) {
            [weak self] in self?.look()
        }
        state.withLock { ($0.heartbeat, $0.since) = (heartbeat, clock.now) }
    }

    func end() { state.withLock { $0.heartbeat = nil } }

    /// Bytes per second, over approximately the last two seconds.
    var rate: Double {
        state.withLock { state in
            guard let first = state.sizes.first, let last = state.sizes.last else { return 0 }
            let seconds = MediaTime(last.time - first.time).seconds
            return seconds > 0 ? Double(max(0, last.bytes - first.bytes)) / seconds : 0
        }
    }

    private func look() {
        let (bytes, now) = (progress.byteCount, clock.now)
        state.withLock { state in
            state.sizes.append((bytes, now))
            if state.sizes.count > Self.looks { state.sizes.removeFirst() }
        }
        let (units, file) = progress.update { ($0.moved, $0.current) }
        let moved = Moved(file: file?.index ?? -1, units: file?.writtenUnits ?? units)
        let waits = inbox.isFilling || file?.isHeldUp(beyond: Self.usual) == true
        let stalled = state.withLock { state -> Duration? in
            if moved != state.moved || !waits {
                state.moved = moved
                state.since = now
                state.isTold = false
                return nil
            }
            let stalled = now - state.since
            guard stalled >= Self.limit, !state.isTold else { return nil }
            state.isTold = true
            return stalled
        }
        if let stalled { tell(stalled) }
    }
}
