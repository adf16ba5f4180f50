internal import MediaCore

/// Work to do after the channel's lock is released: waking threads takes time, and releasing frames
/// and members may run foreign code.
struct DeferredActions: Sendable {
    /// What happens in a channel after a while.
    enum Later: Sendable {
        case arrival(LoopbackRoster.Flight)
        /// A receiver gives up what did not arrive before this one.
        case givingUp(LoopbackRoster.Flight)
        case keyFrameNeeded(TrackID, slot: Int)
        case attempt(Int, outage: Int)
    }
    private var toWake: [LoopbackMember] = []
    private var released: [LoopbackItem] = []
    private var ended: [any PublicationFeedback] = []
    private var gone: [LoopbackMember] = []
    private var later: [(Duration, Later)] = []

    mutating func note(_ placement: Mailbox<LoopbackItem>.Placement, for member: LoopbackMember) {
        if placement.needsWake { toWake.append(member) }
        guard let item = placement.evicted else { return }
        item.tally?.countEvicted()
        released.append(item)
    }

    /// Notes an item that is not delivered, and is counted.
    mutating func note(released item: LoopbackItem) { released.append(item) }

    /// Notes a publication that has ended.
    mutating func note(ended feedback: any PublicationFeedback) { ended.append(feedback) }

    mutating func note(gone member: LoopbackMember) { gone.append(member) }

    mutating func note(after delay: Duration, _ action: Later) { later.append((delay, action)) }

    consuming func finish(in channel: LoopbackChannel) {
        for member in toWake { member.mailbox.wake() }
        for (delay, action) in later { channel.perform(action, after: delay) }
    }
}
