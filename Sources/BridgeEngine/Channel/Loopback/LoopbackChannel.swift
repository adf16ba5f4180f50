internal import MediaBasics
internal import Synchronization

/// One channel of a loopback network. It exists as long as it has members.
///
/// Thread: any. ``change(_:)`` returns deferred work; the caller finishes it when it holds no lock.
final class LoopbackChannel: Sendable {
    private let roster: Mutex<LoopbackRoster>
    /// Items in transit arrive on this queue.
    private let air = SerialQueue(label: "mediabridge.loopback.air")

    private let timeline: any Timeline
    private let onEmpty: @Sendable (LoopbackChannel) -> Void

    /// - Parameters:
    ///   - patience: How long a member whose connection is cut stays one.
    ///   - onEmpty: Called when the last member was removed because of a time limit.
    init(
        patience: Duration, timeline: any Timeline,
        onEmpty: @escaping @Sendable (LoopbackChannel) -> Void
    ) {
        roster = Mutex(LoopbackRoster(patience: patience, timeline: timeline))
        self.timeline = timeline
        self.onEmpty = onEmpty
    }

    var isEmpty: Bool { roster.withLock { $0.isEmpty } }

    /// Changes the channel.
    func change<R: Sendable>(
        _ body: (inout LoopbackRoster) -> R
    ) -> (result: R, deferred: DeferredActions) {
        roster.withLock { (body(&$0), $0.takeDeferredActions()) }
    }

    /// Changes the channel and does the deferred work.
    @discardableResult
    func perform<R: Sendable>(_ body: (inout LoopbackRoster) -> R) -> R {
        let (result, deferred) = change(body)
        deferred.finish(in: self)
        return result
    }

    /// Calls `body` after a delay, if the channel still exists then.
    func after(_ delay: Duration, _ body: @escaping @Sendable (LoopbackChannel) -> Void) {
        _ = timeline.schedule(after: delay, on: air) { [weak self] in if let self { body(self) } }
    }

    fileprivate func perform(_ change: DeferredActions.Later) {
        _ = timeline.schedule(after: change.delay, on: air) { [weak self] in
            guard let self else { return change.orElse() }
            perform(change.body)
            if isEmpty { onEmpty(self) }
        }
    }
}

/// Work to do after the channel's lock is released: waking threads takes time, and releasing frames
/// and members may run foreign code.
struct DeferredActions: Sendable {
    /// A change of a channel after a delay.
    fileprivate struct Later: Sendable {
        let delay: Duration
        /// Called instead if the channel no longer exists.
        let orElse: @Sendable () -> Void
        let body: @Sendable (inout LoopbackRoster) -> Void
    }
    private var toWake: [LoopbackMember] = []
    private var released: [any Sendable] = []
    private var later: [Later] = []

    mutating func note(_ placement: Mailbox<LoopbackItem>.Placement, for member: LoopbackMember) {
        if placement.needsWake { toWake.append(member) }
        guard let item = placement.evicted else { return }
        item.count(.dropped(.evicted))
        release(item)
    }

    /// Keeps a value that the channel no longer needs until the lock is released.
    mutating func release(_ value: some Sendable) { released.append(value) }

    mutating func note(
        after delay: Duration, orElse: @escaping @Sendable () -> Void = {},
        _ body: @escaping @Sendable (inout LoopbackRoster) -> Void
    ) {
        later.append(Later(delay: delay, orElse: orElse, body: body))
    }

    consuming func finish(in channel: LoopbackChannel) {
        for member in toWake { member.mailbox.wake() }
        for change in later { channel.perform(change) }
    }
}

/// An item in the queue of a loopback channel's member.
enum LoopbackItem: Sendable {
    case media(ChannelMedia, ChannelStream, ChannelTally, from: UserID)
    case event(MembershipEvent)
    /// A call of a publication's feedback.
    case call(@Sendable () -> Void)

    /// Counts what became of the frame; does nothing for an event.
    func count(_ outcome: ChannelTally.Outcome) {
        if case .media(_, _, let tally, _) = self { tally.count(outcome) }
    }

    func deliver(to receiver: any ChannelReceiver) {
        switch self {
        case .media(let media, let stream, _, let user):
            count(.delivered)
            receiver.receive(media, stream, from: user)
        case .event(let event): receiver.handle(event)
        case .call(let call): call()
        }
    }
}
