internal import MediaCore
internal import Synchronization

/// Counts the frames that arrive at one point, and their outcomes. Thread: any.
///
/// A frame is counted as offered before its outcome is counted. `offered` is read last, so it is
/// never smaller than the sum of the outcomes.
final class FlowMeter<Media: CountedMedia>: Sendable {
    let offered = Media.Arrivals()
    let delivered: RateMeter
    let drops = DropMeter()

    /// - Parameter clock: The clock for the rate of delivered frames; `nil` if it is not read.
    init(clock: (@Sendable () -> MediaTime)? = nil) { delivered = RateMeter(clock: clock) }

    /// Counts the outcome of a frame.
    func note(_ outcome: FrameDisposition) {
        switch outcome {
        case .accepted: delivered.note()
        case .dropped(let cause): drops.note(cause)
        }
    }

    /// Counts the outcome of a frame, unless it is a drop that was counted already.
    func note(_ receipt: SourceReceipt) {
        if receipt.disposition.isAccepted || !receipt.isCounted { note(receipt.disposition) }
    }

    var balance: FrameBalance {
        var balance = FrameBalance(delivered: delivered.frames, dropped: drops.all)
        balance.offered = offered.frames
        return balance
    }

    /// Counts a frame that arrives and is delivered immediately.
    func pass(_ frame: borrowing Media.Frame) {
        offered.note(frame)
        delivered.note()
    }
}

extension FlowMeter where Media == VideoMedia {
    /// Counts a picture that arrives and is delivered immediately.
    func pass(_ frame: borrowing VideoFrame) {
        offered.note(frame)
        delivered.note()
    }
}

/// The reports of a sink with its own queue about the frames it accepted, over all its runs.
/// Thread: any.
final class SinkAccount: Sendable {
    private struct State {
        /// The sum over all finished runs.
        var earlier = FrameBalance()
        /// The sink's report at the beginning of the current run; `nil` between two runs.
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

    // The sink is the program's code, so it is called outside the lock.

    func begin() {
        let now = sink.frameBalance(of: kind)
        state.withLock { $0.base = now }
    }

    func end() {
        let now = sink.frameBalance(of: kind)
        state.withLock { state in
            state.earlier = state.sum(with: now)
            // Frames that a stopped sink still processes, as a recorder does, count as delivered.
            state.earlier.delivered += max(0, state.earlier.waiting)
            state.base = nil
        }
    }

    var taken: FrameBalance {
        let now = sink.frameBalance(of: kind)
        return state.withLock { $0.sum(with: now) }
    }
}

extension FrameBalance {
    /// Subtracts the frames that a sink lost, or still holds, after accepting them from the
    /// delivered ones.
    func settled(with taken: FrameBalance?) -> FrameBalance {
        guard let taken else { return self }
        var settled = self
        settled.delivered = max(0, delivered - taken.dropped.total - max(0, taken.waiting))
        settled.dropped = dropped + taken.dropped
        // The sink may have lost a frame whose `render` call has not returned yet.
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
