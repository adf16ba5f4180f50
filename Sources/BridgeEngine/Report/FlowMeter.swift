internal import MediaBasics
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

/// The result of a port's receiver for one frame.
struct SourceReceipt: Sendable {
    let disposition: FrameDisposition
    /// Whether the component that dropped the frame has counted the drop already.
    var isCounted = false

    static var accepted: SourceReceipt { SourceReceipt(disposition: .accepted) }

    static func dropped(_ cause: DropCause) -> SourceReceipt {
        SourceReceipt(disposition: .dropped(cause))
    }
}

// MARK: Hanging receivers

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

// MARK: Waiting for counts

/// Waits for counts that other threads are about to change: a frame is counted a moment after its
/// receiver has returned. Thread: any.
final class CountWatch: Sendable {
    private static let watches = Mutex<[ObjectIdentifier: CountWatch]>([:])
    /// The number of watches, so that a count costs next to nothing while there are none.
    private static let number = Atomic<Int>(0)
    private let change = Mutex(Once<Void>())

    /// Called by every meter after it has counted. The count and this reading are sequentially
    /// consistent, as is the begin of a watch: one of the two threads always sees the other.
    static func noteCount() {
        guard number.load(ordering: .sequentiallyConsistent) > 0 else { return }
        for watch in watches.withLock({ Array($0.values) }) {
            watch.change.withLock { $0 }.resume(())
        }
    }

    /// Reads counts, again after each change, until they are complete.
    ///
    /// - Parameters:
    ///   - limit: The longest wait; `nil` for no limit.
    ///   - isCancellable: Whether the wait also ends when the task is cancelled.
    static func read<Counts>(
        within limit: Duration?, on timeline: any Timeline, isCancellable: Bool = false,
        isolation: isolated (any Actor)? = #isolation, until isComplete: (Counts) -> Bool,
        _ read: () -> Counts
    ) async -> Counts {
        let watch = CountWatch()
        watches.withLock { $0[ObjectIdentifier(watch)] = watch }
        number.add(1, ordering: .sequentiallyConsistent)
        defer {
            number.subtract(1, ordering: .sequentiallyConsistent)
            watches.withLock { $0[ObjectIdentifier(watch)] = nil }
        }
        let end = limit.map { timeline.now + $0 }
        while true {
            let change = Once<Void>()
            watch.change.withLock { $0 = change }
            let counts = read()
            if isComplete(counts) { return counts }
            if let end { change.expire(after: end - timeline.now, on: timeline) }
            if await change.value(isCancellable: isCancellable) == nil { return read() }
        }
    }
}
