internal import MediaBasics
internal import MediaCore
internal import Synchronization

/// The bounded queue in front of one sink, and counts of its frames by outcome.
///
/// Thread: any for offering; frames are rendered one at a time on the sink's executor.
final class SinkFeed<Media: CountedMedia>: Sendable {
    /// A frame as it arrived, and the conversion that the sink asked for. An audio sink has its own
    /// converter, so there is no conversion.
    struct Item: Sendable {
        let frame: Media.Frame
        var conversion: SharedConversion?
        /// The number of times that the stream had been interrupted before this frame.
        var epoch = 0
    }
    private let mailbox: Mailbox<Item>
    private let whenFull: WhenFull
    private let clock: EngineClock
    let busy: BusyMeter
    let meter: FlowMeter<Media>
    /// The reports of a sink with its own queue; `nil` for other sinks.
    private let account: SinkAccount?
    /// The epoch of the frame that was rendered last.
    private let epoch = Atomic<Int>(0)
    let latency = LatencyHistogram()
    let freezes = FreezeMeter()
    private let queueTimeout: Duration
    private let queue: SerialQueue
    private let rendersAtOnce: (@Sendable (Item) -> Bool)?
    private let render: @Sendable (Item) -> FrameDisposition
    /// The sink's reference chain of a stream of units.
    private let chain = Mutex(ReferenceChain())

    /// - Parameters:
    ///   - queueTimeout: The maximum time that a source waits for room, if it waits at all. After a
    ///     timeout, no source waits for this sink again before it takes a frame.
    ///   - meter: Counts the frames; `nil` to create one.
    ///   - account: The sink's reports about the frames it accepted; `nil` for a sink without a
    ///     queue.
    ///   - rendersAtOnce: Whether the sink takes an item without delay, so that it is rendered on
    ///     the thread that offers it; `nil` for a sink without a queue.
    ///   - render: Called on `queue`, or in its place; returns whether the frame was rendered.
    init(
        _ options: SinkQueueOptions, clock: EngineClock, queueTimeout: Duration,
        on queue: SerialQueue, counting meter: FlowMeter<Media>? = nil,
        account: SinkAccount? = nil, rendersAtOnce: (@Sendable (Item) -> Bool)? = nil,
        render: @escaping @Sendable (Item) -> FrameDisposition
    ) {
        self.rendersAtOnce = rendersAtOnce
        self.render = render
        let meter = meter ?? FlowMeter(clock: clock.clockTime)
        self.meter = meter
        self.account = account
        busy = BusyMeter(clock.clockTime)
        whenFull = options.whenFull
        self.clock = clock
        self.queueTimeout = queueTimeout
        self.queue = queue
        let reference = SelfReference<SinkFeed>()
        mailbox = Mailbox(depth: options.depth, on: queue, of: clock.timeline) { item in
            guard let feed = reference.object else { return meter.drops.note(.closed) }
            feed.take(item)
        }
        reference.object = self
    }

    private var policy: Mailbox<Item>.WhenFull {
        guard whenFull.waits(isLive: !clock.isOffline), !busy.isGivenUp else { return .evictOldest }
        return .wait(atMost: queueTimeout)
    }

    @discardableResult
    func offer(_ item: Item) -> FrameDisposition {
        meter.offered.note(item.frame)
        let references = item.frame.unitReferences
        if let references, !chain.withLock({ $0.admits(references) }) {
            return meter.drops.refuse(.needsKeyFrame)
        }
        if renderAtOnce(item) { return .accepted }
        switch references == nil ? mailbox.post(item, whenFull: policy) : postUnit(item) {
        case .taken: return .accepted
        case .acceptedByEvictingOldest:
            meter.drops.note(.evicted)
            return .accepted
        case .full:
            lose(references)
            if case .wait = policy { busy.giveUp() }
            return meter.drops.refuse(.queueFull)
        case .closed:
            lose(references)
            return meter.drops.refuse(.notStarted)
        }
    }

    /// Renders an item on this thread, if the sink takes it without delay and no other item waits.
    private func renderAtOnce(_ item: Item) -> Bool {
        guard rendersAtOnce?(item) == true else { return false }
        return queue.runIfIdle {
            guard mailbox.isOpenAndEmpty else { return false }
            take(item)
            return true
        } ?? false
    }

    /// Queues a unit. The queued units are needed to decode later ones, so a full queue refuses the
    /// unit and evicts nothing. A refusal loses all units up to the next key frame, so the queue is
    /// long.
    private func postUnit(_ item: Item) -> Mailbox<Item>.Verdict {
        if case .wait = policy { return mailbox.post(item, whenFull: policy) }
        return mailbox.waitingItems < ReferenceChain.maximumWaiting
            ? mailbox.post(item, whenFull: .keep) : .full
    }

    /// Drops units up to the next key frame.
    func awaitKeyFrame() { _ = chain.withLock { $0.lose() } }

    private func lose(_ references: EncodedVideoFrameReferences?) {
        if references != nil { _ = chain.withLock { $0.lose() } }
    }

    func open() { mailbox.open() }

    /// Accepts no more frames; queued ones are still rendered.
    func close() { mailbox.close() }

    /// Renders the queued frames now. Call it on the sink's queue.
    func drain() { mailbox.drain() }

    /// Accepts no more frames and renders the queued ones now. Call it on the sink's queue: what was
    /// queued may not have been scheduled there yet.
    func finish() {
        mailbox.close()
        mailbox.drain()
    }

    /// Accepts no more frames and drops the queued ones, because the sink was given up.
    func abandon() {
        let lost = mailbox.abandon()
        if lost > 0 { meter.drops.note(.failed, lost) }
    }

    /// Sets whether a source may be blocked until there is room.
    func setMayBlock(_ mayBlock: Bool) { mailbox.setMayBlock(mayBlock) }

    private func take(_ item: Item) {
        let disposition = busy.during { render(item) }
        meter.note(disposition)
        guard disposition.isAccepted else { return }
        let now = clock.clockTime()
        // An interruption of the sender is not a freeze.
        if epoch.exchange(item.epoch, ordering: .relaxed) != item.epoch { freezes.pause() }
        freezes.note(at: now)
        if let live = item.frame.liveTiming, let due = item.frame.runningTime {
            latency.record(max(.zero, now - (live.clockOrigin + due)))
        }
    }

    /// Returns the counts of the sink.
    func counts(at now: MediaTime) -> EngineStatistics.Sink {
        var counts = EngineStatistics.Sink()
        counts.balance = balance
        counts.frameRate = meter.delivered.rate(at: now)
        counts.latencyP50 = latency.quantile(0.5)
        counts.latencyP99 = latency.quantile(0.99)
        (counts.freezes, counts.frozen) = freezes.all
        return counts
    }

    var balance: FrameBalance {
        // The sink's report is read first. The frames in it are then counted here already, except
        // the one in its current `render` call.
        let taken = account?.taken
        return meter.balance.settled(with: taken)
    }
}

typealias VideoSinkFeed = SinkFeed<VideoMedia>
typealias AudioSinkFeed = SinkFeed<AudioMedia>

/// The depth of a sink's queue, and what happens when it is full.
struct SinkQueueOptions {
    /// The maximum number of frames that wait.
    var depth = 4
    var whenFull = WhenFull.automatic
}
