internal import MediaCore
internal import Synchronization

/// Detects a receiver that hangs in a frame, and remembers that a source timed out waiting for it.
/// Thread: any; one frame at a time.
final class BusyMeter: Sendable {
    /// The clock's time, in nanoseconds, when the current frame was handed to the receiver; zero
    /// for none.
    private let since = Atomic<Int64>(0)
    private let watch = Mutex(StallWatch())
    private let isGivenUpNow = Atomic<Bool>(false)
    private let clock: @Sendable () -> MediaTime

    init(_ clock: @escaping @Sendable () -> MediaTime) { self.clock = clock }

    /// Runs `body`, which handles one frame.
    func during<R>(_ body: () -> R) -> R {
        isGivenUpNow.store(false, ordering: .relaxed)
        since.store(clock().nanoseconds, ordering: .relaxed)
        defer { since.store(0, ordering: .relaxed) }
        return body()
    }

    /// Records that a source timed out waiting for room. No source waits again before the receiver
    /// takes a frame.
    func giveUp() { isGivenUpNow.store(true, ordering: .relaxed) }

    var isGivenUp: Bool { isGivenUpNow.load(ordering: .relaxed) }

    /// Checks whether the receiver hangs in a frame for longer than `limit`.
    ///
    /// - Returns: The changes since the last check.
    func check(now: MediaTime, limit: MediaTime) -> [StallWatch.Change] {
        let since = self.since.load(ordering: .relaxed)
        return watch.withLock {
            $0.look(
                since: since > 0 ? MediaTime(nanoseconds: since) : nil, now: now, limit: limit)
        }
    }
}

/// Counts the frames of a track that were to be encoded for a channel, and their units. Thread: any.
final class EncodingMeter: Sendable {
    /// Frames up to the encoder: delivered ones were accepted by it.
    let frames = FlowMeter<VideoMedia>()
    /// Units that encoders made.
    let units = RateMeter()
    /// Frames that encoders accepted and made no unit of.
    let lost = DropMeter()

    var balance: FrameBalance {
        let (units, lost) = (self.units.frames, self.lost.all)
        var frames = frames.balance
        let accepted = frames.delivered
        frames.delivered = min(units, accepted)
        frames.dropped = frames.dropped + lost
        frames.offered = max(frames.offered, frames.delivered + frames.dropped.total)
        return frames
    }
}
