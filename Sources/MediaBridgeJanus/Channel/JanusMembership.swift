internal import BridgeEngine

/// A user's membership in a room. The user leaves when the last reference is released.
final class JanusMembership: ChannelMembership {
    private let member: JanusMember
    private let inbox: Inbox

    init(_ member: JanusMember, _ inbox: Inbox) {
        self.member = member
        self.inbox = inbox
    }

    deinit {
        inbox.letGo()
        member.note(.abandoned)
    }

    func publish(
        _ track: TrackID, feedback: any PublicationFeedback
    ) -> any VideoPublication {
        let media = member.media(of: track)
        return JanusVideoPublication(media, media.publishVideo(feedback))
    }

    func publishAudio() -> any AudioPublication {
        let media = member.media(of: .main)
        return JanusAudioPublication(media, media.publishAudio())
    }

    func setDemand(_ demand: VideoDemand?, _ track: TrackID, of user: UserID) {
        member.note(.setDemand(demand, track, user))
    }

    func requestKeyFrame(_ track: TrackID, of user: UserID) {
        member.note(.keyFrame(track, user))
    }

    func send(_ message: ChannelMessage, to user: UserID?) async throws(EngineError) {
        try await member.send(message, to: user)
    }

    func leave() async {
        // First, so that the user receives nothing more once the others know that it left.
        inbox.letGo()
        await member.leave()
        await inbox.silence()
    }

    var statistics: ChannelStatistics { member.ledger.statistics }
}
