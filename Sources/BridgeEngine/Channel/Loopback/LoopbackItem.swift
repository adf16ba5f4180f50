internal import MediaCore

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
            tally.countDelivered()
            receiver.receive(frame, track: track, from: user)
        case .unit(let unit, let track, let tally, let user):
            tally.countDelivered()
            receiver.receive(unit, track: track, from: user)
        case .joined(let user): receiver.userJoined(user)
        case .left(let user, let reason): receiver.userLeft(user, reason: reason)
        case .published(let track, let user): receiver.trackPublished(track, by: user)
        case .unpublished(let track, let user): receiver.trackUnpublished(track, by: user)
        case .muted(let isMuted, let track, let user):
            receiver.trackMuted(isMuted, track, by: user)
        case .audio(let frame, let tally, let user):
            tally.countDelivered()
            receiver.receive(frame, from: user)
        case .audioUnit(let unit, let tally, let user):
            tally.countDelivered()
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
