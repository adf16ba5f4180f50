internal import MediaBasics
internal import MediaCore
internal import Synchronization

/// The bounded queue in front of one sink of sound, and what became of each of its frames.
///
/// Thread: any for offering; frames are rendered one at a time on the sink's lane.
final class AudioFeed: Sendable {
    private let mailbox: Mailbox<AudioFrame>
    private let isOffline: Bool
    private let patience: Duration
    let offered = AudioMeter()
    let rendered = AudioMeter()
    let drops = DropMeter()

    /// Of sound that comes in pieces of 10 ms, two thirds of a second.
    private static let depth = 64

    /// - Parameters:
    ///   - patience: How long a source waits for room at most, where nothing may be lost.
    ///   - render: Called on `queue`; says whether the frame was rendered.
    init(
        isOffline: Bool, patience: Duration, on queue: SerialQueue,
        render: @escaping @Sendable (AudioFrame) -> FrameDisposition
    ) {
        self.isOffline = isOffline
        self.patience = patience
        let (rendered, drops) = (self.rendered, self.drops)
        mailbox = Mailbox(depth: Self.depth, on: queue) { frame in
            switch render(frame) {
            case .accepted: rendered.note(frame)
            case .dropped(let cause): drops.note(cause)
            }
        }
        mailbox.close()
    }

    func offer(_ frame: AudioFrame) {
        offered.note(frame)
        switch mailbox.post(frame, whenFull: isOffline ? .wait(atMost: patience) : .evictOldest) {
        case .taken: break
        case .takenForOldest: drops.note(.evicted)
        case .full: drops.note(.queueFull)
        case .closed: drops.note(.notStarted)
        }
    }

    func open() { mailbox.open() }

    /// Takes no more; what waits is still rendered.
    func close() { mailbox.close() }

    func setPatient(_ isPatient: Bool) { mailbox.setPatient(isPatient) }
}
