internal import MediaCore
internal import Synchronization

/// Which blocks of 10 ms are due, by their numbers since the clock's zero, whenever it is asked: a late
/// timer makes up for it. Thread: any.
final class PlaybackPace: Sendable {
    private let clock: EngineClock
    private let made: Mutex<Int64>
    private static let length = PlaybackMixer.length.nanoseconds
    /// A machine that slept does not catch up on all of it.
    private static let most: Int64 = 100

    init(_ clock: EngineClock) {
        self.clock = clock
        made = Mutex(clock.now.nanoseconds / Self.length)
    }

    /// The next block's.
    var next: Int64 { made.withLock { $0 } }

    func dueBlocks() -> Range<Int64> {
        let now = clock.now.nanoseconds / Self.length
        return made.withLock { made in
            defer { made = max(made, now) }
            return max(made, now - Self.most)..<max(made, now)
        }
    }
}

/// What format the program pulls, reached without waiting for the engine.
final class PlaybackPullFormat: Sendable {
    private let present = Mutex<AudioFormat?>(nil)

    /// `nil` while nothing is pulled.
    var format: AudioFormat? { present.withLock { $0 } }

    func enable(_ format: AudioFormat?) { present.withLock { $0 = format } }
}
