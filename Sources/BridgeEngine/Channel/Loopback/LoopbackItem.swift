internal import MediaCore

/// What waits for a member of a loopback channel: a frame, or word of the others.
enum LoopbackItem: Sendable {
    case frame(VideoFrame, TrackID, FrameTally, from: UserID)
    case joined(UserID)
    case left(UserID, OfflineReason)
    case published(TrackID, UserID)
    case unpublished(TrackID, UserID)
    case disconnected(EngineError)

    /// Where a frame is counted.
    var tally: FrameTally? {
        if case .frame(_, _, let tally, _) = self { tally } else { nil }
    }

    func deliver(to receiver: any ChannelReceiver) {
        switch self {
        case .frame(let frame, let track, let tally, let user):
            tally.countDelivered()
            receiver.receive(frame, track: track, from: user)
        case .joined(let user): receiver.userJoined(user)
        case .left(let user, let reason): receiver.userLeft(user, reason: reason)
        case .published(let track, let user): receiver.trackPublished(track, by: user)
        case .unpublished(let track, let user): receiver.trackUnpublished(track, by: user)
        case .disconnected(let error): receiver.disconnected(error)
        }
    }
}
