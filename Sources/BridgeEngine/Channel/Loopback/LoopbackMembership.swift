internal import MediaCore

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

    func publish(_ track: TrackID) { channel.publish(track, from: slot).finish() }

    func unpublish(_ track: TrackID) { channel.unpublish(track, from: slot).finish() }

    func send(_ frame: consuming VideoFrame, track: TrackID) -> FrameDisposition {
        let (disposition, deferred) = channel.send(frame, track: track, from: slot)
        deferred.finish()
        return disposition
    }

    /// All codecs that have a name.
    var codecs: Set<EncodedVideoFrame.Codec> { EncodedVideoFrame.Codec.named }

    func send(_ unit: EncodedVideoFrame, track: TrackID) -> FrameDisposition {
        let (disposition, deferred) = channel.send(unit, track: track, from: slot)
        deferred.finish()
        return disposition
    }

    func publishAudio() { channel.publishAudio(from: slot).finish() }

    func unpublishAudio() { channel.unpublishAudio(from: slot).finish() }

    func send(_ frame: consuming AudioFrame) -> FrameDisposition {
        let (disposition, deferred) = channel.send(frame, from: slot)
        deferred.finish()
        return disposition
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
