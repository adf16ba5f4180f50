internal import MediaBasics
internal import MediaCore
internal import Synchronization

/// The bounded queue in front of one renderer, and what became of each of its frames.
///
/// Thread: any for offering; frames are rendered one at a time on the renderer's lane.
final class SinkFeed: Sendable {
    /// A frame as it came, and how the renderer wants it.
    struct Item: Sendable {
        let frame: VideoFrame
        let conversion: SharedConversion?
    }
    private let mailbox: Mailbox<Item>
    private let whenFull: RendererOptions.WhenFull
    private let isOffline: Bool
    /// It was waited for once in vain: not again before it took a frame.
    private let isUnresponsive = Atomic<Bool>(false)
    /// The clock's time since when one frame is being rendered; zero for none.
    private let busySince = Atomic<Int64>(0)
    private let isReportedStalled = Atomic<Bool>(false)
    let offered = FrameMeter()
    let rendered = FrameMeter()
    let drops = DropMeter()
    let latency = LatencyHistogram()
    let freezes = FreezeMeter()
    private let patience: Duration
    private let queue: SerialQueue

    /// - Parameters:
    ///   - patience: How long a source waits for room at most, where it does.
    ///   - render: Called on `queue`; says whether the frame was rendered.
    init(
        _ options: RendererOptions, isOffline: Bool, patience: Duration, on queue: SerialQueue,
        clock: @escaping @Sendable () -> MediaTime,
        render: @escaping @Sendable (Item) -> FrameDisposition
    ) {
        whenFull = options.whenFull
        self.isOffline = isOffline
        self.patience = patience
        self.queue = queue
        // The mailbox needs its receiver, and the receiver is this: so it reaches back through a box.
        let reach = Reach()
        mailbox = Mailbox(depth: options.depth, on: queue) { item in
            reach.feed?.take(item, clock: clock, render: render)
        }
        reach.feed = self
    }

    private final class Reach: @unchecked Sendable {  // set once, before the first item is posted
        weak var feed: SinkFeed?
    }

    private var policy: Mailbox<Item>.WhenFull {
        let waits: Bool
        switch whenFull {
        case .automatic: waits = isOffline
        case .evictOldest: waits = false
        case .wait: waits = true
        }
        guard waits, !isUnresponsive.load(ordering: .relaxed) else { return .evictOldest }
        return .wait(atMost: patience)
    }

    @discardableResult
    func offer(_ item: Item) -> FrameDisposition {
        offered.note(item.frame.format)
        switch mailbox.post(item, whenFull: policy) {
        case .taken: return .accepted
        case .takenForOldest:
            drops.note(.evicted)
            return .accepted
        case .full:
            isUnresponsive.store(true, ordering: .relaxed)
            drops.note(.queueFull)
            return .queueFull
        case .closed:
            drops.note(.notStarted)
            return .notStarted
        }
    }

    func open() { mailbox.open() }

    /// Takes no more; what waits is still rendered.
    func close() { mailbox.close() }

    /// Whether a source may be made to wait for room.
    func setPatient(_ isPatient: Bool) { mailbox.setPatient(isPatient) }

    /// Returns when what waited is rendered, or after `limit`.
    func drained(within limit: Duration) async { await queue.outcome(within: limit) {} }

    private func take(
        _ item: Item, clock: @Sendable () -> MediaTime,
        render: @Sendable (Item) -> FrameDisposition
    ) {
        isUnresponsive.store(false, ordering: .relaxed)
        busySince.store(clock().nanoseconds, ordering: .relaxed)
        let disposition = render(item)
        let now = clock()
        busySince.store(0, ordering: .relaxed)
        switch disposition {
        case .accepted:
            rendered.note(item.frame.format)
            freezes.note(at: now)
            if let live = item.frame.liveTiming, let due = item.frame.runningTime {
                latency.record(max(.zero, now - (live.clockOrigin + due)))
            }
        case .dropped(let cause): drops.note(cause)
        }
    }

    /// What changed since the last look.
    enum Change { case stalled, resumed }

    /// Looks whether the renderer hangs in a frame.
    func check(now: MediaTime, limit: MediaTime) -> Change? {
        let since = busySince.load(ordering: .relaxed)
        let hangs = since > 0 && now.nanoseconds - since > limit.nanoseconds
        guard hangs != isReportedStalled.load(ordering: .relaxed) else { return nil }
        isReportedStalled.store(hangs, ordering: .relaxed)
        return hangs ? .stalled : .resumed
    }

    func statistics(now: MediaTime) -> EngineStatistics.Renderer {
        var statistics = EngineStatistics.Renderer()
        statistics.offered = offered.frames
        statistics.rendered = rendered.frames
        statistics.dropped = drops.all
        statistics.frameRate = rendered.rate(at: now)
        statistics.latencyP50 = latency.quantile(0.5)
        statistics.latencyP99 = latency.quantile(0.99)
        (statistics.freezes, statistics.frozen) = freezes.all
        return statistics
    }
}
