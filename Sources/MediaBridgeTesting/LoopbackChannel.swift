internal import BridgeEngine
internal import MediaBasics
internal import Synchronization

/// One channel of a loopback network. It exists as long as it has members.
///
/// Thread: any. ``change(_:)`` returns deferred work; the caller finishes it when it holds no lock.
final class LoopbackChannel: Sendable {
    private let roster: Mutex<LoopbackRoster>

    /// - Parameters:
    ///   - reconnectionTimeout: How long a member whose connection is cut stays one.
    ///   - timeline: Measures this time, and the interval of key frame requests.
    init(reconnectionTimeout: Duration, timeline: any Timeline) {
        roster = Mutex(LoopbackRoster(reconnectionTimeout: reconnectionTimeout, timeline: timeline))
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
        deferred.finish()
        return result
    }
}

/// Work to do after the channel's lock is released: waking threads takes time, and releasing frames
/// and members may run foreign code.
struct DeferredActions: Sendable {
    private var toWake: [LoopbackMember] = []
    private var released: [any Sendable] = []

    mutating func note(_ placement: Mailbox<LoopbackItem>.Placement, for member: LoopbackMember) {
        if placement.needsWake { toWake.append(member) }
        guard let item = placement.evicted else { return }
        item.count(.dropped(.evicted))
        release(item)
    }

    /// Keeps a value that the channel no longer needs until the lock is released.
    mutating func release(_ value: some Sendable) { released.append(value) }

    consuming func finish() {
        for member in toWake { member.mailbox.wake() }
    }
}

/// An item in the queue of a loopback channel's member.
enum LoopbackItem: Sendable {
    case media(ChannelMedia, MediaTrackID, ChannelTally, from: UserID)
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
