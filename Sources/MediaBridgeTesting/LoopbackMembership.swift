internal import BridgeEngine
internal import MediaBasics
internal import MediaCore
internal import Synchronization

/// A user's membership in a loopback channel. The user is removed when the last reference is
/// released.
final class LoopbackMembership: ChannelMembership {
    private let network: LoopbackNetwork
    private let name: String
    private let channel: LoopbackChannel
    private let slot: Int
    private let member: LoopbackMember

    init(
        _ member: LoopbackMember, in channel: LoopbackChannel, named name: String, at slot: Int,
        of network: LoopbackNetwork
    ) {
        self.network = network
        self.name = name
        self.channel = channel
        self.slot = slot
        self.member = member
    }

    deinit {
        member.reject()
        network.change(channel, named: name) { [slot] in $0.remove(slot, reason: .dropped) }
    }

    func publish(
        _ stream: MediaTrackID, feedback: (any PublicationFeedback)?
    ) -> any ChannelPublication {
        channel.perform { [slot] in $0.publish(stream, feedback, from: slot) }
        return LoopbackPublication(
            stream, in: channel, from: slot, carriesFrames: network.carriesRawFrames)
    }

    func setDemand(_ demand: VideoLimit?, _ track: TrackID, of user: UserID) {
        channel.perform { [slot] in $0.setDemand(demand, track, of: user, by: slot) }
    }

    func requestKeyFrame(_ track: TrackID, of user: UserID) {
        channel.perform { [slot] in $0.requestKeyFrame(track, of: user, by: slot) }
    }

    func send(_ message: ChannelMessage, to user: UserID?) async throws(EngineError) {
        try message.checkSize()
        let isSent = channel.perform { [slot] in $0.send(message, to: user, from: slot) }
        guard !isSent else { return }
        guard let user, channel.perform({ [slot] in $0.places[slot] != nil }) else {
            throw EngineError(.notInChannel, message: "\(member.user) is not in the channel")
        }
        throw EngineError(.invalidArgument, message: "\(user) is not in channel \(name)")
    }

    func leave() async {
        // First, so that the user receives nothing more once the others have been notified that it
        // left.
        member.reject()
        network.change(channel, named: name) { [slot] in $0.remove(slot, reason: .quit) }
        await member.receiver.silence()
    }

    var statistics: ChannelStatistics {
        channel.perform { [slot, member] in $0.statistics(of: member, at: slot) }
    }
}

/// The publication of a stream in a loopback channel.
final class LoopbackPublication: ChannelPublication {
    let carriesReorderedUnits = true
    let carriesFrames: Bool
    private let stream: MediaTrackID
    private let channel: LoopbackChannel
    private let slot: Int
    private let isOver = Atomic<Bool>(false)

    init(
        _ stream: MediaTrackID, in channel: LoopbackChannel, from slot: Int, carriesFrames: Bool
    ) {
        self.carriesFrames = carriesFrames
        self.stream = stream
        self.channel = channel
        self.slot = slot
    }

    // All codecs that have a name.
    var videoCodecs: Set<VideoCodec> { VideoCodec.named }
    var audioCodecs: Set<AudioCodec> { AudioCodec.named }

    func send(_ media: consuming ChannelMedia) -> FrameDisposition {
        guard !isOver.load(ordering: .relaxed) else { return .dropped(.notStarted) }
        switch media {
        case .picture, .samples: guard carriesFrames else { return .dropped(.badFormat) }
        case .unit, .audioUnit: break
        }
        let media = media
        return channel.perform { [slot, stream] in $0.send(media, stream, from: slot) }
    }

    func setMuted(_ isMuted: Bool) {
        guard !isOver.load(ordering: .relaxed) else { return }
        channel.perform { [slot, stream] in $0.mute(isMuted, stream, from: slot) }
    }

    func end() {
        guard !isOver.exchange(true, ordering: .relaxed) else { return }
        channel.perform { [slot, stream] in $0.unpublish(stream, from: slot) }
    }
}

// MARK: The member

/// A member of a loopback channel, as seen by the other members: a mailbox in front of a receiver.
final class LoopbackMember: Sendable {
    /// The request with which the member joined.
    let request: ChannelRequest
    var user: UserID { request.userID }
    let mailbox: Mailbox<LoopbackItem>
    /// Each member has its own queue: a receiver that blocks does not block the others.
    let receiver: ReceiverQueue
    /// Totals over all users that were ever in the channel.
    let outgoing = ChannelTallies()
    let incoming = ChannelTallies()
    private let sentCount = Atomic<Int>(0)

    /// - Parameter depth: The maximum number of frames that wait for the receiver.
    init(
        _ request: ChannelRequest, depth: Int, receiver: any ChannelReceiver, timeline: any Timeline
    ) {
        self.request = request
        let receiver = ReceiverQueue(
            receiver, label: "mediabridge.loopback.\(request.userID)")
        self.receiver = receiver
        mailbox = Mailbox(depth: depth, on: receiver.queue, of: timeline) { item in
            guard receiver.call({ item.deliver(to: $0) }) else {
                return item.count(.dropped(.closed))
            }
            if case .event(.disconnected) = item { receiver.release() }
        }
    }

    var sent: Int { sentCount.load(ordering: .relaxed) }
    func countSent() { sentCount.add(1, ordering: .relaxed) }

    /// Discards the queued items, and releases the receiver after the running callback.
    func reject() {
        receiver.release()
        for item in mailbox.abandonedItems() { item.count(.dropped(.closed)) }
    }
}
