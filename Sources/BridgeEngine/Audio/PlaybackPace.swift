internal import MediaCore
internal import Synchronization

/// How many blocks of 10 ms are due, whenever it is asked: a late timer makes up for it. Thread: any.
final class PlaybackPace: Sendable {
    private let clock: EngineClock
    private let made: Mutex<Int64>
    private static let length: Int64 = 10_000_000
    /// A machine that slept does not catch up on all of it.
    private static let most: Int64 = 20

    init(_ clock: EngineClock) {
        self.clock = clock
        made = Mutex(clock.now.nanoseconds / Self.length)
    }

    func dueBlocks() -> Int {
        let now = clock.now.nanoseconds / Self.length
        return made.withLock { made in
            defer { made = max(made, now) }
            return Int(max(0, min(now - made, Self.most)))
        }
    }
}

/// What format the program pulls, reached without waiting for the engine.
final class PullDesk: Sendable {
    private let present = Mutex<AudioFormat?>(nil)

    /// `nil` while nothing is pulled.
    var format: AudioFormat? { present.withLock { $0 } }

    func enable(_ format: AudioFormat?) { present.withLock { $0 = format } }
}
