internal import MediaBasics
internal import MediaCore
internal import Synchronization

/// The bounded queue in front of one renderer, and what became of each of its frames.
///
/// Thread: any for offering; frames are rendered one at a time on the renderer's executor.
final class VideoSinkFeed: Sendable {
    /// A frame as it came, and how the renderer wants it.
    struct Item: Sendable {
        let frame: VideoFrame
        let conversion: SharedConversion?
        /// Counts the times that the stream began anew.
        let epoch: Int
    }
    private let mailbox: Mailbox<Item>
    private let whenFull: RendererOptions.WhenFull
    private let isOffline: Bool
    private let busy: BusyMeter
    let meter: FlowMeter
    /// Of a sink that has a queue of its own.
    private let account: SinkAccount?
    /// That of the frame that was rendered last.
    private let epoch = Atomic<Int>(0)
    let latency = LatencyHistogram()
    let freezes = FreezeMeter()
    private let patience: Duration
    private let queue: SerialQueue

    /// - Parameters:
    ///   - patience: How long a source waits for room at most, where it does.
    ///   - meter: Counts the frames; `nil` for one of its own.
    ///   - account: What the sink says of the frames it took.
    ///   - render: Called on `queue`; says whether the frame was rendered.
    init(
        _ options: RendererOptions, isOffline: Bool, patience: Duration, on queue: SerialQueue,
        clock: @escaping @Sendable () -> MediaTime, counting meter: FlowMeter? = nil,
        account: SinkAccount? = nil, render: @escaping @Sendable (Item) -> FrameDisposition
    ) {
        let meter = meter ?? FlowMeter(clock: clock)
        self.meter = meter
        self.account = account
        busy = BusyMeter(clock)
        whenFull = options.whenFull
        self.isOffline = isOffline
        self.patience = patience
        self.queue = queue
        // The mailbox needs its receiver, and the receiver is this: so it reaches back through a box.
        let reach = Reach()
        mailbox = Mailbox(depth: options.depth, on: queue) { item in
            guard let feed = reach.feed else { return meter.drops.note(.closed) }
            feed.take(item, clock: clock, render: render)
        }
        reach.feed = self
    }

    private final class Reach: @unchecked Sendable {  // set once, before the first item is posted
        weak var feed: VideoSinkFeed?
    }

    private var policy: Mailbox<Item>.WhenFull {
        let waits: Bool
        switch whenFull {
        case .automatic: waits = isOffline
        case .evictOldest: waits = false
        case .wait: waits = true
        }
        guard waits, !busy.isGivenUp else { return .evictOldest }
        return .wait(atMost: patience)
    }

    @discardableResult
    func offer(_ item: Item) -> FrameDisposition {
        meter.offered.note(item.frame.format)
        switch mailbox.post(item, whenFull: policy) {
        case .taken: return .accepted
        case .takenForOldest:
            meter.drops.note(.evicted)
            return .accepted
        case .full:
            busy.giveUp()
            meter.drops.note(.queueFull)
            return .queueFull
        case .closed:
            meter.drops.note(.notStarted)
            return .notStarted
        }
    }

    func open() { mailbox.open() }

    /// Takes no more; what waits is still rendered.
    func close() { mailbox.close() }

    /// Takes no more, and forgets what waits: its renderer was given up.
    func abandon() {
        let lost = mailbox.abandon()
        if lost > 0 { meter.drops.note(.failed, lost) }
    }

    /// Whether a source may be made to wait for room.
    func setMayBlock(_ mayBlock: Bool) { mailbox.setMayBlock(mayBlock) }

    /// Returns when what waited is rendered, or after `limit`.
    func drained(within limit: Duration) async { await queue.outcome(within: limit) {} }

    private func take(
        _ item: Item, clock: @Sendable () -> MediaTime,
        render: @Sendable (Item) -> FrameDisposition
    ) {
        let disposition = busy.during { render(item) }
        let now = clock()
        switch disposition {
        case .accepted:
            meter.delivered.note(item.frame.format)
            // While nobody sent, nothing stood still.
            if epoch.exchange(item.epoch, ordering: .relaxed) != item.epoch { freezes.pause() }
            freezes.note(at: now)
            if let live = item.frame.liveTiming, let due = item.frame.runningTime {
                latency.record(max(.zero, now - (live.clockOrigin + due)))
            }
        case .dropped(let cause): meter.drops.note(cause)
        }
    }

    /// Looks whether the renderer hangs in a frame.
    ///
    /// - Returns: What changed since the last look.
    func check(now: MediaTime, limit: MediaTime) -> [StallWatch.Change] {
        busy.check(now: now, limit: limit)
    }

    var balance: FrameBalance {
        // The sink first: what it says of is counted here, but for the frame in its hand.
        let taken = account?.taken
        return meter.balance.settled(with: taken)
    }

    func statistics(now: MediaTime) -> EngineStatistics.Renderer {
        var statistics = EngineStatistics.Renderer()
        statistics.balance = balance
        statistics.frameRate = meter.delivered.rate(at: now)
        statistics.latencyP50 = latency.quantile(0.5)
        statistics.latencyP99 = latency.quantile(0.99)
        (statistics.freezes, statistics.frozen) = freezes.all
        return statistics
    }
}
