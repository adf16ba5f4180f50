internal import MediaBasics
internal import Synchronization

/// Somebody in a loopback channel, as the others see him: a mailbox with a receiver behind it.
final class LoopbackMember: Sendable {
    let user: UserID
    let mailbox: Mailbox<LoopbackItem>
    private let hearing: ReceiverHandle
    private let queue: SerialQueue
    /// Sums over everybody who was ever there.
    let outgoing = FrameTally()
    let incoming = FrameTally()
    let outgoingAudio = FrameTally()
    let incomingAudio = FrameTally()
    private let sentCount = Atomic<Int>(0)

    /// - Parameter depth: Frames that wait for the receiver at most.
    init(_ user: UserID, depth: Int, receiver: any ChannelReceiver) {
        self.user = user
        let hearing = ReceiverHandle(receiver)
        self.hearing = hearing
        // A queue of his own: a receiver that blocks blocks no other.
        queue = SerialQueue(label: "mediabridge.loopback.\(user)")
        mailbox = Mailbox(depth: depth, on: queue) { hearing.hear($0) }
    }

    var sent: Int { sentCount.load(ordering: .relaxed) }
    func countSent() { sentCount.add(1, ordering: .relaxed) }

    /// Forgets what waits, and lets go of the receiver after the call that is under route.
    func turnAway() {
        hearing.letGo()
        for item in mailbox.abandonedItems() { item.tally?.countClosed() }
    }

    /// Returns when no call is under route; at once in a task that the call has started.
    func silence() async {
        if hearing.isInOwnTurn { return }
        // The queue is serial, and what is on it ends with the call.
        await withCheckedContinuation { silent in queue.async { silent.resume() } }
    }
}
