internal import MediaCore
internal import Synchronization

/// Computes which blocks of 10 ms are due, numbered from running time zero. A late timer gets
/// several blocks at once. Thread: any.
final class PlaybackPace: Sendable {
    private let clock: EngineClock
    private let made: Mutex<Int64>
    private static let length = PlaybackMixer.length.nanoseconds
    /// The maximum number of blocks returned at once, so that a machine that slept does not catch
    /// up on everything.
    private static let most: Int64 = 100

    init(_ clock: EngineClock) {
        self.clock = clock
        made = Mutex(clock.now.nanoseconds / Self.length)
    }

    /// The number of the next block.
    var next: Int64 { made.withLock { $0 } }

    /// Returns the blocks that have become due since the previous call.
    func dueBlocks() -> Range<Int64> {
        let now = clock.now.nanoseconds / Self.length
        return made.withLock { made in
            defer { made = max(made, now) }
            return max(made, now - Self.most)..<max(made, now)
        }
    }
}

/// The format in which the program pulls, readable without waiting for the engine.
final class PlaybackPullFormat: Sendable {
    private let present = Mutex<AudioFormat?>(nil)

    /// `nil` if pulling is not enabled.
    var format: AudioFormat? { present.withLock { $0 } }

    func enable(_ format: AudioFormat?) { present.withLock { $0 = format } }
}
