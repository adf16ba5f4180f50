internal import MediaCore
internal import Synchronization

/// Counts what comes to one place and what becomes of it. Thread: any.
///
/// A frame is counted as offered before anything becomes of it, and that is read last: never too few.
final class FlowMeter: Sendable {
    let offered: FrameMeter
    let delivered: FrameMeter
    let drops = DropMeter()

    /// - Parameter clock: For rates.
    init(clock: (@Sendable () -> MediaTime)? = nil) {
        offered = FrameMeter(clock: clock)
        delivered = FrameMeter(clock: clock)
    }

    var balance: FrameBalance {
        var balance = FrameBalance(delivered: delivered.frames, dropped: drops.all)
        balance.offered = offered.frames
        return balance
    }

    /// Counts a frame that passes at once.
    func pass(_ format: VideoFormat) {
        offered.note(format)
        delivered.note(format)
    }
}

/// The same of sound, in pieces. Thread: any.
final class AudioFlowMeter: Sendable {
    let offered = AudioMeter()
    private let delivered = Atomic<Int>(0)
    let drops = DropMeter()

    func deliver() { delivered.add(1, ordering: .releasing) }

    var balance: FrameBalance {
        var balance = FrameBalance(
            delivered: delivered.load(ordering: .acquiring), dropped: drops.all)
        balance.offered = offered.now.frames
        return balance
    }
}

/// What a sink with a queue of its own says of the frames it took, over all its runs. Thread: any.
final class SinkAccount: Sendable {
    private struct State {
        /// Of the runs that are over.
        var earlier = FrameBalance()
        /// What it said when the run that is under way began; `nil` between two runs.
        var base: FrameBalance?

        func sum(with now: FrameBalance) -> FrameBalance {
            base.map { earlier + now.since($0) } ?? earlier
        }
    }
    private let state = Mutex(State())
    private let sink: any FrameBalanceReporting
    private let kind: MediaKind

    init(_ sink: any FrameBalanceReporting, _ kind: MediaKind) {
        self.sink = sink
        self.kind = kind
    }

    // The sink is the program's, and asked outside of the lock.

    func begin() {
        let now = sink.takenFrames(kind)
        state.withLock { $0.base = now }
    }

    func end() {
        let now = sink.takenFrames(kind)
        state.withLock { state in
            state.earlier = state.sum(with: now)
            // What a sink goes on with by itself, as a recorder does, is its own matter.
            state.earlier.delivered += max(0, state.earlier.waiting)
            state.base = nil
        }
    }

    var taken: FrameBalance {
        let now = sink.takenFrames(kind)
        return state.withLock { $0.sum(with: now) }
    }
}

extension FrameBalance {
    /// Takes what a sink lost of the frames it took, and what it still holds, off what was delivered to it.
    func settled(with taken: FrameBalance?) -> FrameBalance {
        guard let taken else { return self }
        var settled = self
        settled.delivered = max(0, delivered - taken.dropped.total - max(0, taken.waiting))
        settled.dropped = dropped + taken.dropped
        // A frame that it lost already may still be on its way out of the sink's hand.
        settled.offered = max(offered, settled.delivered + settled.dropped.total)
        return settled
    }

    fileprivate func since(_ base: FrameBalance) -> FrameBalance {
        var drops = DropCounts()
        for cause in DropCause.allCases {
            drops[cause] = max(0, dropped[cause] - base.dropped[cause])
        }
        return FrameBalance(
            offered: max(0, offered - base.offered), delivered: max(0, delivered - base.delivered),
            dropped: drops)
    }
}
