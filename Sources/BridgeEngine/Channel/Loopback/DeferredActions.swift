/// What is left to do when a channel's lock is free again: waking threads takes its time, and letting go
/// of frames and members may run other people's code.
struct DeferredActions: Sendable {
    private var toWake: [LoopbackMember] = []
    private var evicted: [LoopbackItem] = []
    private var gone: [LoopbackMember] = []

    mutating func note(_ placement: Mailbox<LoopbackItem>.Placement, for member: LoopbackMember) {
        if placement.needsWake { toWake.append(member) }
        guard let item = placement.evicted else { return }
        item.tally?.countEvicted()
        evicted.append(item)
    }

    mutating func note(gone member: LoopbackMember) { gone.append(member) }

    consuming func finish() {
        for member in toWake { member.mailbox.wake() }
    }
}
