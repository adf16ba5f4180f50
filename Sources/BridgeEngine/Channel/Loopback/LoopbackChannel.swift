internal import MediaBasics
internal import MediaCore
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

    func statistics(of slot: Int, into statistics: inout ChannelStatistics) {
        var copy = statistics
        roster.withLock { $0.statistics(of: slot, into: &copy) }
        statistics = copy
    }

    /// Calls `body` after a delay, if the channel still exists then.
    func after(_ delay: Duration, _ body: @escaping @Sendable (LoopbackChannel) -> Void) {
        _ = timeline.schedule(after: delay, on: air) { [weak self] in if let self { body(self) } }
    }

    func perform(_ action: DeferredActions.Later, after delay: Duration) {
        _ = timeline.schedule(after: delay, on: air) { [weak self] in
            guard let self else {
                if case .arrival(let flight) = action { flight.item.tally?.count(.closed) }
                return
            }
            perform { roster in
                switch action {
                case .arrival(let flight): roster.arrive(flight)
                case .givingUp(let flight): roster.giveUp(before: flight)
                case .keyFrameNeeded(let track, let slot): roster.keyFrameNeeded(track, of: slot)
                case .attempt(let slot, let outage): roster.attempt(slot, outage: outage)
                }
            }
            if isEmpty { onEmpty(self) }
        }
    }
}

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
        item.tally?.count(.evicted)
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

// MARK: Items

/// An item in the queue of a loopback channel's member: a frame, a unit or an event.
enum LoopbackItem: Sendable {
    case frame(VideoFrame, TrackID, FrameTally, from: UserID)
    case unit(EncodedVideoFrame, TrackID, FrameTally, from: UserID)
    case joined(UserID)
    case left(UserID, OfflineReason)
    case published(TrackID, UserID)
    case unpublished(TrackID, UserID)
    case muted(Bool, TrackID, UserID)
    case audio(AudioFrame, FrameTally, from: UserID)
    case audioUnit(EncodedAudioFrame, FrameTally, from: UserID)
    case audioMuted(Bool, UserID)
    case audioPublished(UserID)
    case audioUnpublished(UserID)
    case message(ChannelMessage, from: UserID)
    case connection(ChannelConnection)
    case disconnected(EngineError)
    /// For the publisher of a track.
    case feedback(any PublicationFeedback, Feedback)

    enum Feedback: Sendable {
        case keyFrameNeeded
        case limit(VideoLimit)
        case state(PublicationState)
    }

    /// The tally that counts the frame; `nil` for an event.
    var tally: FrameTally? {
        switch self {
        case .frame(_, _, let tally, _), .unit(_, _, let tally, _), .audio(_, let tally, _),
            .audioUnit(_, let tally, _):
            tally
        default: nil
        }
    }

    func deliver(to receiver: any ChannelReceiver) {
        switch self {
        case .frame(let frame, let track, let tally, let user):
            tally.count(.delivered)
            receiver.receive(frame, track: track, from: user)
        case .unit(let unit, let track, let tally, let user):
            tally.count(.delivered)
            receiver.receive(unit, track: track, from: user)
        case .joined(let user): receiver.userJoined(user)
        case .left(let user, let reason): receiver.userLeft(user, reason: reason)
        case .published(let track, let user): receiver.trackPublished(track, by: user)
        case .unpublished(let track, let user): receiver.trackUnpublished(track, by: user)
        case .muted(let isMuted, let track, let user):
            receiver.trackMuted(isMuted, track, by: user)
        case .audio(let frame, let tally, let user):
            tally.count(.delivered)
            receiver.receive(frame, from: user)
        case .audioUnit(let unit, let tally, let user):
            tally.count(.delivered)
            receiver.receive(unit, from: user)
        case .audioMuted(let isMuted, let user): receiver.audioMuted(isMuted, by: user)
        case .audioPublished(let user): receiver.audioPublished(by: user)
        case .audioUnpublished(let user): receiver.audioUnpublished(by: user)
        case .message(let message, let user): receiver.receive(message, from: user)
        case .connection(let connection): receiver.connectionChanged(connection)
        case .disconnected(let error): receiver.disconnected(error)
        case .feedback(let publisher, .keyFrameNeeded): publisher.keyFrameNeeded()
        case .feedback(let publisher, .limit(let limit)): publisher.limitChanged(limit)
        case .feedback(let publisher, .state(let state)): publisher.stateChanged(state)
        }
    }
}

// MARK: Counts

/// Counts the frames from one sender to one receiver, and adds them to the totals of both. Thread:
/// any.
final class FrameTally: Sendable {
    private let sent = Atomic<Int>(0)
    private let delivered = Atomic<Int>(0)
    private let evicted = Atomic<Int>(0)
    private let lost = Atomic<Int>(0)
    private let needingKeyFrame = Atomic<Int>(0)
    private let closed = Atomic<Int>(0)
    private let sums: [FrameTally]

    init(addingTo sums: FrameTally...) { self.sums = sums }

    func countSent() {
        sent.add(1, ordering: .relaxed)
        for sum in sums { sum.countSent() }
    }

    /// What became of a frame.
    enum Outcome { case delivered, evicted, lost, needingKeyFrame, closed }

    func count(_ outcome: Outcome) {
        switch outcome {
        case .delivered: delivered.add(1, ordering: .sequentiallyConsistent)
        case .evicted: evicted.add(1, ordering: .sequentiallyConsistent)
        case .lost: lost.add(1, ordering: .sequentiallyConsistent)
        case .needingKeyFrame: needingKeyFrame.add(1, ordering: .sequentiallyConsistent)
        case .closed: closed.add(1, ordering: .sequentiallyConsistent)
        }
        for sum in sums { sum.count(outcome) }
        CountWatch.noteCount()
    }

    var frames: FrameBalance {
        var frames = FrameBalance()
        // A frame is counted as sent before its outcome is counted. `sent` is read last, so it is
        // never smaller than the sum of the outcomes.
        frames.dropped[.closed] = closed.load(ordering: .acquiring)
        frames.dropped[.evicted] = evicted.load(ordering: .acquiring)
        frames.dropped[.needsKeyFrame] = needingKeyFrame.load(ordering: .acquiring)
        frames.dropped[.lost] = lost.load(ordering: .acquiring)
        frames.delivered = delivered.load(ordering: .acquiring)
        frames.offered = sent.load(ordering: .acquiring)
        return frames
    }
}
