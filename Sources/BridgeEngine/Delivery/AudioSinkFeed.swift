internal import MediaBasics
internal import MediaCore
internal import Synchronization

/// The bounded queue in front of one sink of sound, and what became of each of its frames.
///
/// Thread: any for offering; frames are rendered one at a time on the sink's executor.
final class AudioSinkFeed: Sendable {
    private let mailbox: Mailbox<AudioFrame>
    private let isOffline: Bool
    private let patience: Duration
    private let busy: BusyMeter
    private let meter = AudioFlowMeter()
    /// Of a sink that has a queue of its own.
    private let account: SinkAccount?

    /// Of sound that comes in pieces of 10 ms, two thirds of a second.
    private static let depth = 64

    /// - Parameters:
    ///   - patience: How long a source waits for room at most, where nothing may be lost. A sink for
    ///     which it waited in vain is not waited for again before it takes a frame.
    ///   - account: What the sink says of the frames it took.
    ///   - render: Called on `queue`; says whether the frame was rendered.
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

    /// Looks whether the sink hangs in a frame.
    func check(now: MediaTime, limit: MediaTime) -> [StallWatch.Change] {
        busy.check(now: now, limit: limit)
    }

    func open() { mailbox.open() }

    /// Takes no more; what waits is still rendered.
    func close() { mailbox.close() }

    /// Takes no more, and forgets what waits: its sink was given up.
    func abandon() {
        let lost = mailbox.abandon()
        if lost > 0 { meter.drops.note(.failed, lost) }
    }

    var balance: FrameBalance {
        // The sink first: what it says of is counted here, but for the frame in its hand.
        let taken = account?.taken
        return meter.balance.settled(with: taken)
    }

    func setMayBlock(_ mayBlock: Bool) { mailbox.setMayBlock(mayBlock) }
}
