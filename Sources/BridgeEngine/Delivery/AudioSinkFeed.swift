internal import MediaBasics
internal import MediaCore
internal import Synchronization

/// The bounded queue in front of one audio sink, and counts of its frames by outcome.
///
/// Thread: any for offering; frames are rendered one at a time on the sink's executor.
final class AudioSinkFeed: Sendable {
    private let mailbox: Mailbox<AudioFrame>
    private let isOffline: Bool
    private let patience: Duration
    private let busy: BusyMeter
    private let meter = AudioFlowMeter()
    /// The reports of a sink with its own queue; `nil` for other sinks.
    private let account: SinkAccount?

    /// Two thirds of a second of audio in frames of 10 ms.
    private static let depth = 64

    /// - Parameters:
    ///   - patience: The maximum time that a source waits for room if no frame may be lost. After a
    ///     timeout, no source waits for this sink again before it takes a frame.
    ///   - account: The sink's reports about the frames it accepted; `nil` for a sink without a
    ///     queue.
    ///   - render: Called on `queue`; returns whether the frame was rendered.
    init(
        isOffline: Bool, patience: Duration, on queue: SerialQueue,
        clock: @escaping @Sendable () -> MediaTime, account: SinkAccount?,
        render: @escaping @Sendable (AudioFrame) -> FrameDisposition
    ) {
        self.isOffline = isOffline
        self.patience = patience
        self.account = account
        let meter = self.meter
        let busy = BusyMeter(clock)
        self.busy = busy
        mailbox = Mailbox(depth: Self.depth, on: queue) { frame in
            switch busy.during({ render(frame) }) {
            case .accepted: meter.deliver()
            case .dropped(let cause): meter.drops.note(cause)
            }
        }
        mailbox.close()
    }

    func offer(_ frame: AudioFrame) {
        meter.offered.note(frame)
        switch mailbox.post(frame, whenFull: policy) {
        case .taken: break
        case .takenForOldest: meter.drops.note(.evicted)
        case .full:
            busy.giveUp()
            meter.drops.note(.queueFull)
        case .closed: meter.drops.note(.notStarted)
        }
    }

    private var policy: Mailbox<AudioFrame>.WhenFull {
        isOffline && !busy.isGivenUp ? .wait(atMost: patience) : .evictOldest
    }

    /// Checks whether the sink hangs in a frame.
    func check(now: MediaTime, limit: MediaTime) -> [StallWatch.Change] {
        busy.check(now: now, limit: limit)
    }

    func open() { mailbox.open() }

    /// Accepts no more frames; queued ones are still rendered.
    func close() { mailbox.close() }

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

    var balance: FrameBalance {
        // The sink's report is read first. The frames in it are then counted here already, except
        // the one in its current `render` call.
        let taken = account?.taken
        return meter.balance.settled(with: taken)
    }

    func setMayBlock(_ mayBlock: Bool) { mailbox.setMayBlock(mayBlock) }
}
