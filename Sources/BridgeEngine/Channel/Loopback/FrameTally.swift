internal import Synchronization

/// Counts the frames from one sender to one receiver, and adds them to the totals of both. Thread:
/// any.
final class FrameTally: Sendable {
    private let sent = Atomic<Int>(0)
    private let delivered = Atomic<Int>(0)
    private let evicted = Atomic<Int>(0)
    private let lost = Atomic<Int>(0)
    private let needingKeyFrame = Atomic<Int>(0)
    private let closed = Atomic<Int>(0)
    private let sums: [FrameTally]

    init(addingTo sums: FrameTally...) { self.sums = sums }

    func countSent() {
        sent.add(1, ordering: .relaxed)
        for sum in sums { sum.countSent() }
    }

    func countDelivered() {
        delivered.add(1, ordering: .sequentiallyConsistent)
        for sum in sums { sum.countDelivered() }
        CountWatch.noteCount()
    }

    func countEvicted() {
        evicted.add(1, ordering: .sequentiallyConsistent)
        for sum in sums { sum.countEvicted() }
        CountWatch.noteCount()
    }

    func countLost() {
        lost.add(1, ordering: .sequentiallyConsistent)
        for sum in sums { sum.countLost() }
        CountWatch.noteCount()
    }

    func countNeedingKeyFrame() {
        needingKeyFrame.add(1, ordering: .sequentiallyConsistent)
        for sum in sums { sum.countNeedingKeyFrame() }
        CountWatch.noteCount()
    }

    func countClosed() {
        closed.add(1, ordering: .sequentiallyConsistent)
        for sum in sums { sum.countClosed() }
        CountWatch.noteCount()
    }

    var frames: ChannelStatistics.Frames {
        var frames = ChannelStatistics.Frames()
        // A frame is counted as sent before its outcome is counted. `sent` is read last, so it is
        // never smaller than the sum of the outcomes.
        frames.closed = closed.load(ordering: .acquiring)
        frames.evicted = evicted.load(ordering: .acquiring)
        frames.needingKeyFrame = needingKeyFrame.load(ordering: .acquiring)
        frames.lost = lost.load(ordering: .acquiring)
        frames.delivered = delivered.load(ordering: .acquiring)
        frames.sent = sent.load(ordering: .acquiring)
        return frames
    }
}
