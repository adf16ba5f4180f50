internal import MediaCore
internal import Synchronization

/// Counts frames, and computes their rate. Thread: any.
final class RateMeter: Sendable {
    private let count = Atomic<Int>(0)
    private struct Mark {
        var count = 0
        var time: MediaTime?
    }
    private let mark = Mutex(Mark())
    private let clock: (@Sendable () -> MediaTime)?

    /// - Parameter clock: Called once, at the first frame, which is where the first rate's interval
    ///   begins. `nil` if that is not needed.
    init(clock: (@Sendable () -> MediaTime)? = nil) { self.clock = clock }

    func note() {
        let isFirst = count.add(1, ordering: .sequentiallyConsistent).oldValue == 0
        if isFirst, let clock { begin(at: clock()) }
        CountWatch.noteCount()
    }

    private func begin(at now: MediaTime) {
        mark.withLock { if $0.time == nil { $0 = Mark(count: 1, time: now) } }
    }

    var frames: Int { count.load(ordering: .acquiring) }

    /// Returns the frames per second since the previous call, or since the first frame, and starts
    /// a new interval.
    func rate(at now: MediaTime) -> Double {
        mark.withLock { mark in
            let frames = self.frames
            // No interval begins before the first frame.
            guard frames > 0 else { return 0 }
            defer { mark = Mark(count: frames, time: now) }
            guard let since = mark.time, now > since else { return 0 }
            return Double(frames - mark.count) / (now - since).seconds
        }
    }
}

/// Counts the video frames that pass one point, with their rate and the latest size. Thread: any.
final class FrameMeter: ArrivalMeter {
    typealias Frame = VideoItem
    private let counts: RateMeter
    /// Width and height in one value, so that both belong to the same frame.
    private let latest = Atomic<UInt64>(0)

    /// - Parameter clock: As for ``RateMeter``.
    init(clock: (@Sendable () -> MediaTime)?) { counts = RateMeter(clock: clock) }

    convenience init() { self.init(clock: nil) }

    func note(_ item: borrowing VideoItem) {
        if let size = item.size { remember(size) }
        counts.note()
    }

    func note(_ frame: borrowing VideoFrame) { note(frame.size) }

    func note(_ size: VideoSize) {
        remember(size)
        counts.note()
    }

    /// Sets the size of the latest picture, for units whose size only the decoder knows.
    func remember(_ size: VideoSize) {
        let packed =
            UInt64(UInt32(clamping: size.width)) << 32 | UInt64(UInt32(clamping: size.height))
        if latest.load(ordering: .relaxed) != packed { latest.store(packed, ordering: .relaxed) }
    }

    var frames: Int { counts.frames }

    var lastSize: VideoSize? {
        let packed = latest.load(ordering: .relaxed)
        return packed == 0
            ? nil : VideoSize(width: Int(packed >> 32), height: Int(packed & 0xffff_ffff))
    }

    func rate(at now: MediaTime) -> Double { counts.rate(at: now) }
}

/// Counts drops by cause. Takes one lock per dropped frame: for places where that cost does not
/// matter. Thread: any.
final class DropMeter: Sendable {
    private let counts = Mutex(DropCounts())

    func note(_ cause: DropCause, _ count: Int = 1) {
        counts.withLock { $0[cause] += count }
        CountWatch.noteCount()
    }

    var all: DropCounts { counts.withLock { $0 } }
}

/// Counts the freezes: intervals of more than half a second between two rendered frames. Thread:
/// any.
final class FreezeMeter: Sendable {
    private struct State {
        var last: MediaTime?
        var count = 0
        var total = MediaTime.zero
    }
    private let state = Mutex(State())
    private static let limit = MediaTime(seconds: 0.5)

    func note(at now: MediaTime) {
        state.withLock { state in
            if let last = state.last, now - last > Self.limit {
                state.count += 1
                state.total = state.total + (now - last)
            }
            state.last = now
        }
    }

    /// Does not count the interval until the next frame, because the renderer or the sender was
    /// stopped.
    func pause() { state.withLock { $0.last = nil } }

    var all: (count: Int, total: Duration) { state.withLock { ($0.count, $0.total.duration) } }
}
