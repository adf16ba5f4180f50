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
        member.turnAway()
        network.remove(slot, from: channel, named: name, reason: .dropped)
    }

    func publish(
        _ track: TrackID, feedback: any PublicationFeedback
    ) -> any VideoPublication {
        channel.perform { [slot] in $0.publish(track, feedback, from: slot) }
        return LoopbackPublication(
            track, in: channel, from: slot, carriesFrames: network.carriesFrames)
    }

    func publishAudio() -> any AudioPublication {
        channel.perform { [slot] in $0.publishAudio(from: slot) }
        return LoopbackAudioPublication(
            in: channel, from: slot, carriesFrames: network.carriesFrames)
    }

    func setDemand(_ demand: VideoDemand?, _ track: TrackID, of user: UserID) {
        channel.perform { [slot] in $0.setDemand(demand, track, of: user, by: slot) }
    }

    func requestKeyFrame(_ track: TrackID, of user: UserID) {
        channel.perform { [slot] in $0.requestKeyFrame(track, of: user, by: slot) }
    }

    func send(_ message: ChannelMessage, to user: UserID?) async throws(EngineError) {
        guard message.bytes.count <= ChannelMessage.maximumSize else {
            throw EngineError(
                .invalidArgument,
                message: "a message of \(message.bytes.count) bytes is too long",
                advice: "at most \(ChannelMessage.maximumSize) bytes")
        }
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
        member.turnAway()
        network.remove(slot, from: channel, named: name, reason: .quit)
        await member.silence()
    }

    var statistics: ChannelStatistics {
        var statistics = ChannelStatistics()
        statistics.sent = member.sent
        statistics.outgoing = member.outgoing.frames
        statistics.incoming = member.incoming.frames
        statistics.outgoingAudio = member.outgoingAudio.frames
        statistics.incomingAudio = member.incomingAudio.frames
        channel.statistics(of: slot, into: &statistics)
        return statistics
    }
}

/// The publication of a track in a loopback channel.
final class LoopbackPublication: VideoPublication {
    let carriesReorderedUnits = true
    private let track: TrackID
    private let channel: LoopbackChannel
    private let slot: Int
    let carriesFrames: Bool
    private let isOver = Atomic<Bool>(false)

    init(
        _ track: TrackID, in channel: LoopbackChannel, from slot: Int, carriesFrames: Bool
    ) {
        self.carriesFrames = carriesFrames
        self.track = track
        self.channel = channel
        self.slot = slot
    }

    /// All codecs that have a name.
    var codecs: Set<VideoCodec> { VideoCodec.named }

    func send(_ frame: consuming VideoFrame) -> FrameDisposition {
        guard !isOver.load(ordering: .relaxed) else { return .notStarted }
        guard carriesFrames else { return .dropped(.badFormat) }
        let frame = frame
        return channel.perform { [slot, track] in $0.send(frame, track: track, from: slot) }
    }

    func send(_ unit: EncodedVideoFrame) -> FrameDisposition {
        guard !isOver.load(ordering: .relaxed) else { return .notStarted }
        return channel.perform { [slot, track] in $0.send(unit, track: track, from: slot) }
    }

    func setMuted(_ isMuted: Bool) {
        guard !isOver.load(ordering: .relaxed) else { return }
        channel.perform { [slot, track] in $0.mute(isMuted, track, from: slot) }
    }

    func end() {
        guard !isOver.exchange(true, ordering: .relaxed) else { return }
        channel.perform { [slot, track] in $0.unpublish(track, from: slot) }
    }
}

/// The publication of a user's audio in a loopback channel.
final class LoopbackAudioPublication: AudioPublication {
    private let channel: LoopbackChannel
    private let slot: Int
    let carriesFrames: Bool
    private let isOver = Atomic<Bool>(false)

    init(in channel: LoopbackChannel, from slot: Int, carriesFrames: Bool) {
        self.carriesFrames = carriesFrames
        self.channel = channel
        self.slot = slot
    }

    /// All codecs that have a name.
    var codecs: Set<AudioCodec> { AudioCodec.named }

    func send(_ frame: consuming AudioFrame) -> FrameDisposition {
        guard !isOver.load(ordering: .relaxed) else { return .notStarted }
        guard carriesFrames else { return .dropped(.badFormat) }
        let frame = frame
        return channel.perform { [slot] in $0.send(frame, from: slot) }
    }

    func send(_ unit: EncodedAudioFrame) -> FrameDisposition {
        guard !isOver.load(ordering: .relaxed) else { return .notStarted }
        return channel.perform { [slot] in $0.send(unit, from: slot) }
    }

    func setMuted(_ isMuted: Bool) {
        guard !isOver.load(ordering: .relaxed) else { return }
        channel.perform { [slot] in $0.muteAudio(isMuted, from: slot) }
    }

    func end() {
        guard !isOver.exchange(true, ordering: .relaxed) else { return }
        channel.perform { [slot] in $0.unpublishAudio(from: slot) }
    }
}
