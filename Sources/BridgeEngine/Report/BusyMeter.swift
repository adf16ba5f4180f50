internal import MediaCore
internal import Synchronization

/// Whether a receiver hangs in a frame, and whether somebody waits for it in vain. Thread: any; one frame at
/// a time.
final class BusyMeter: Sendable {
    /// The clock's time since when one frame is being taken; zero for none.
    private let since = Atomic<Int64>(0)
    private let watch = Mutex(StallWatch())
    private let isGivenUpNow = Atomic<Bool>(false)
    private let clock: @Sendable () -> MediaTime

    init(_ clock: @escaping @Sendable () -> MediaTime) { self.clock = clock }

    /// Runs `body`, which takes one frame.
    func during<R>(_ body: () -> R) -> R {
        isGivenUpNow.store(false, ordering: .relaxed)
        since.store(clock().nanoseconds, ordering: .relaxed)
        defer { since.store(0, ordering: .relaxed) }
        return body()
    }

    /// Somebody has waited for room in vain: nobody does so again before the receiver takes a frame.
    func giveUp() { isGivenUpNow.store(true, ordering: .relaxed) }

    var isGivenUp: Bool { isGivenUpNow.load(ordering: .relaxed) }

    /// Looks whether the receiver hangs in a frame for longer than `limit`.
    ///
    /// - Returns: What changed since the last look.
    func check(now: MediaTime, limit: MediaTime) -> [StallWatch.Change] {
        let since = self.since.load(ordering: .relaxed)
        return watch.withLock {
            $0.look(
                since: since > 0 ? MediaTime(nanoseconds: since) : nil, now: now, limit: limit)
        }
    }
}
