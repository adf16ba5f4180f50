internal import MediaCore
internal import Synchronization

/// Counts the frames that pass one place, and tells their rate. Thread: any.
final class FrameMeter: Sendable {
    private let count = Atomic<Int>(0)
    /// Width and height in one word, so that both belong to one frame.
    private let size = Atomic<UInt64>(0)
    private struct Mark {
        var count = 0
        var time: MediaTime?
    }
    private let mark = Mutex(Mark())
    private let clock: (@Sendable () -> MediaTime)?

    /// - Parameter clock: Asked once, at the first frame, so that the first rate has a beginning.
    init(clock: (@Sendable () -> MediaTime)? = nil) { self.clock = clock }

    func note(_ format: VideoFormat) {
        let packed =
            UInt64(UInt32(clamping: format.width)) << 32 | UInt64(UInt32(clamping: format.height))
        if size.load(ordering: .relaxed) != packed { size.store(packed, ordering: .relaxed) }
        if count.add(1, ordering: .releasing).oldValue == 0, let clock { begin(at: clock()) }
    }

    private func begin(at now: MediaTime) {
        mark.withLock { if $0.time == nil { $0 = Mark(count: 1, time: now) } }
    }

    var frames: Int { count.load(ordering: .acquiring) }

    var lastSize: VideoSize? {
        let packed = size.load(ordering: .relaxed)
        return packed == 0
            ? nil : VideoSize(width: Int(packed >> 32), height: Int(packed & 0xffff_ffff))
    }

    /// Frames a second since the mark before, or the first frame, and a new mark.
    func rate(at now: MediaTime) -> Double {
        mark.withLock { mark in
            let frames = self.frames
            // Before the first frame there is nothing to measure from.
            guard frames > 0 else { return 0 }
            defer { mark = Mark(count: frames, time: now) }
            guard let since = mark.time, now > since else { return 0 }
            return Double(frames - mark.count) / (now - since).seconds
        }
    }
}

/// Drops by cause, where one lock a dropped frame costs nothing that matters. Thread: any.
final class DropMeter: Sendable {
    private let counts = Mutex(DropCounts())

    func note(_ cause: DropCause, _ count: Int = 1) { counts.withLock { $0[cause] += count } }

    var all: DropCounts { counts.withLock { $0 } }
}
