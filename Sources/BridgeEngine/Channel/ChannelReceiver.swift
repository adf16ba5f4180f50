public import MediaCore

/// Receives the events and frames of a channel.
///
/// Events are called one at a time, in order. The frames and units of one track are called one at a
/// time, after ``trackPublished(_:by:)`` and before ``trackUnpublished(_:by:)`` or
/// ``userLeft(_:reason:)``; those of different tracks may be called at once. All calls come on threads of
/// the transport and must return quickly.
public protocol ChannelReceiver: AnyObject, Sendable {
    /// Called when a user is in the channel: once for each who was there before, and for each who
    /// joins.
    func userJoined(_ user: UserID)
    /// Called when a user is gone. The user's tracks end with it.
    func userLeft(_ user: UserID, reason: OfflineReason)
    /// Called when a user has announced a video track, before the track's first frame.
    func trackPublished(_ track: TrackID, by user: UserID)
    /// Called when a user has announced the end of a video track, after the track's last frame.
    func trackUnpublished(_ track: TrackID, by user: UserID)
    /// Called when a user has muted a video track, or sends it again.
    func trackMuted(_ isMuted: Bool, _ track: TrackID, by user: UserID)
    /// Called with each video frame of another user.
    func receive(_ frame: consuming VideoFrame, track: TrackID, from user: UserID)
    /// Called with each encoded unit of another user, in the order of decoding. The first one is a key
    /// frame, and so is the first one after a loss.
    func receive(_ unit: EncodedVideoFrame, track: TrackID, from user: UserID)
    /// Called when a user has announced audio, before the first audio frame.
    func audioPublished(by user: UserID)
    /// Called when a user has announced the end of its audio, after the last audio frame.
    func audioUnpublished(by user: UserID)
    /// Called when a user has muted its audio, or sends it again.
    func audioMuted(_ isMuted: Bool, by user: UserID)
    /// Called with each audio frame of another user.
    func receive(_ frame: consuming AudioFrame, from user: UserID)
    /// Called with each encoded unit of audio of another user, in the order of times.
    func receive(_ unit: EncodedAudioFrame, from user: UserID)
    /// Called with a message that another user has sent to this one, or to all.
    func receive(_ message: ChannelMessage, from user: UserID)
    /// Called when the connection to the channel is interrupted, with each attempt to restore it, and
    /// when it is restored. Users, tracks and publications are the same throughout; what has changed
    /// meanwhile is told after ``ChannelConnection/connected``.
    func connectionChanged(_ connection: ChannelConnection)
    /// Returns a token that is valid now. Asked when the connection is restored, and before a token
    /// expires; the channel ends with an error for tokens if that one is not valid.
    ///
    /// - Returns: The token; `nil` if the one of the request is to be used again.
    func token(for reason: TokenReason) async throws(EngineError) -> String?
    /// Called when the channel is gone; no further callback follows.
    func disconnected(_ error: EngineError)
}

/// Why a channel asks for a token.
public enum TokenReason: String, Hashable, Sendable {
    /// The connection was interrupted and is being restored.
    case reconnecting
    /// The token expires soon.
    case expiring
}

extension ChannelReceiver {
    // Defaults for receivers that ignore units, audio, messages and the state of the connection.
    /// Does nothing.
    public func trackMuted(_ isMuted: Bool, _ track: TrackID, by user: UserID) {}
    /// Discards the unit.
    public func receive(_ unit: EncodedVideoFrame, track: TrackID, from user: UserID) {}
    /// Does nothing.
    public func audioPublished(by user: UserID) {}
    /// Does nothing.
    public func audioUnpublished(by user: UserID) {}
    /// Does nothing.
    public func audioMuted(_ isMuted: Bool, by user: UserID) {}
    /// Discards the frame.
    public func receive(_ frame: consuming AudioFrame, from user: UserID) {}
    /// Discards the unit.
    public func receive(_ unit: EncodedAudioFrame, from user: UserID) {}
    /// Discards the message.
    public func receive(_ message: ChannelMessage, from user: UserID) {}
    /// Does nothing.
    public func connectionChanged(_ connection: ChannelConnection) {}
    /// The request's token again.
    public func token(for reason: TokenReason) async throws(EngineError) -> String? { nil }
}
