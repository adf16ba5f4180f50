internal import MediaBasics
internal import Synchronization

/// A member of a loopback channel, as seen by the other members: a mailbox in front of a receiver.
final class LoopbackMember: Sendable {
    /// The request with which the member joined.
    let request: ChannelRequest
    var user: UserID { request.userID }
    let mailbox: Mailbox<LoopbackItem>
    private let receiver: HeldReceiver
    private let queue: SerialQueue
    /// Totals over all users that were ever in the channel.
    let outgoing = FrameTally()
    let incoming = FrameTally()
    let outgoingAudio = FrameTally()
    let incomingAudio = FrameTally()
    private let sentCount = Atomic<Int>(0)

    /// - Parameter depth: The maximum number of frames that wait for the receiver.
    init(
        _ request: ChannelRequest, depth: Int, receiver: any ChannelReceiver, timeline: any Timeline
    ) {
        self.request = request
        let receiver = HeldReceiver(receiver)
        self.receiver = receiver
        // Each member has its own queue: a receiver that blocks does not block the others.
        queue = SerialQueue(label: "mediabridge.loopback.\(request.userID)")
        mailbox = Mailbox(depth: depth, on: queue, of: timeline) { item in
            guard receiver.call({ item.deliver(to: $0) }) else {
                item.tally?.countClosed()
                return
            }
            if case .disconnected = item { receiver.release() }
        }
    }

    var sent: Int { sentCount.load(ordering: .relaxed) }
    func countSent() { sentCount.add(1, ordering: .relaxed) }

    func token(for reason: TokenReason) async throws(EngineError) -> String? {
        try await receiver.token(for: reason)
    }

    /// Discards the queued items, and releases the receiver after the running callback.
    func turnAway() {
        receiver.release()
        for item in mailbox.abandonedItems() { item.tally?.countClosed() }
    }

    /// Returns when no callback is running; immediately in a task that the running callback has
    /// started.
    func silence() async {
        if receiver.isInOwnTurn { return }
        // The queue is serial, so this block runs after the callback.
        await withCheckedContinuation { silent in queue.async { silent.resume() } }
    }
}
