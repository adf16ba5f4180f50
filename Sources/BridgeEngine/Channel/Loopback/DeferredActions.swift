/// Work to do after the channel's lock is released: waking threads takes time, and releasing frames
/// and members may run foreign code.
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
