internal import Synchronization

/// Counts of what became of the samples of a branch.
extension CaptureBranch {
    /// Samples that arrived at the appsink.
    var arrivedSamples: Int { arrived.value }

    /// Samples that were pulled from the appsink, discarded ones included.
    var takenSamples: Int { translation.takenSamples }

    /// Samples that were pulled and discarded, because they came after the stop.
    var discardedSamples: Int { discarded.load(ordering: .acquiring) }

    /// Old samples that were evicted by newer ones. Samples that may still be in the queue count as
    /// waiting until ``discard()`` was called, or until the stream has ended and was read to its
    /// end.
    var evictedSamples: Int {
        guard translation.isLive else { return 0 }
        let taken = takenSamples
        let missing = arrivedSamples - taken
        let known = isStanding ? missing : missing - sink.depth
        return evicted.max(max(0, known), ordering: .acquiringAndReleasing).newValue
    }

    /// Whether no sample waits in the queue any more.
    private var isStanding: Bool {
        switch mode.withLock({ $0 }) {
        case .discard, .suspended, .idle: true
        case .push, .pull, .hold: isFinished
        }
    }

    /// Accounts for the samples that arrived. Delivered are those that were pulled and not
    /// discarded.
    var balance: FrameBalance {
        var drops = DropCounts()
        drops[.evicted] = evictedSamples
        let discarded = discardedSamples
        drops[.closed] = discarded
        let taken = takenSamples
        // A sample may be pulled just before its arrival is counted.
        let offered = max(arrivedSamples, taken + drops[.evicted])
        return FrameBalance(offered: offered, delivered: taken - discarded, dropped: drops)
    }
}
