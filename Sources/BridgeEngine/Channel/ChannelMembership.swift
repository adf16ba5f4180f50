/// The membership of one user in a channel, from joining to leaving.
///
/// A connection that is cut and comes back is the same membership: see
/// ``ChannelReceiver/connectionChanged(_:)``.
public protocol ChannelMembership: AnyObject, Sendable {
    /// Announces a video track. Returns at once; ``PublicationFeedback/stateChanged(_:)`` reports
    /// the progress.
    ///
    /// - Parameters:
    ///   - track: The track's number. A user has at most one publication of each.
    ///   - feedback: Receives the channel's requests to the publisher. Retained until the
    ///     publication ends.
    /// - Returns: The publication, which sends the track. The track's announcement ends with
    ///   ``VideoPublication/end()``, or with the membership.
    func publish(
        _ track: TrackID, feedback: any PublicationFeedback
    ) -> any VideoPublication

    /// Announces the user's audio. A user has at most one publication of audio at a time.
    ///
    /// - Returns: The publication, which sends the audio. The announcement ends with
    ///   ``AudioPublication/end()``, or with the membership.
    func publishAudio() -> any AudioPublication

    /// Sets the user's demand for another user's track. A track without a demand is not transported
    /// or decoded. The demand also applies to a track that does not exist yet, and after the other
    /// user rejoins. Returns at once.
    ///
    /// - Parameters:
    ///   - demand: The demand; `nil` for none. If the channel cannot adapt the track, it arrives
    ///     unchanged.
    ///   - track: The number of the track.
    ///   - user: The user that publishes the track.
    func setDemand(_ demand: VideoDemand?, _ track: TrackID, of user: UserID)

    /// Requests a key frame of another user's track, because a received unit cannot be decoded
    /// without one. May be called for every such unit: the channel limits how often it forwards the
    /// request. If the channel itself loses a unit, it requests a key frame without this call.
    func requestKeyFrame(_ track: TrackID, of user: UserID)

    /// Sends a message to one user or to all others. Messages arrive whole, once and in order.
    ///
    /// - Parameters:
    ///   - message: At most ``ChannelMessage/maximumSize`` bytes.
    ///   - user: The recipient; `nil` for all others.
    /// - Throws: ``EngineError/Code/invalidArgument`` for a message that is too long or a user that
    ///   is not in the channel; ``EngineError/Code/notInChannel`` after leaving.
    func send(_ message: ChannelMessage, to user: UserID?) async throws(EngineError)

    /// Leaves the channel and ends the user's tracks. After it returns, the receiver and the
    /// feedback of all publications are no longer called. A second call does nothing.
    ///
    /// It waits for a running callback. A task that this callback starts (with `Task`, not
    /// `Task.detached`) may nevertheless call it, even if the callback waits for that task.
    func leave() async

    /// The counts of sent and received frames so far; also available after leaving.
    var statistics: ChannelStatistics { get }
}

extension ChannelMembership {
    // Defaults for channels without audio, messages, or a choice of tracks.
    /// A publication that drops everything as ``FrameDisposition/notEnabled``.
    public func publishAudio() -> any AudioPublication { NoAudioPublication() }
    /// Does nothing: every track is transported.
    public func setDemand(_ demand: VideoDemand?, _ track: TrackID, of user: UserID) {}
    /// Does nothing.
    public func requestKeyFrame(_ track: TrackID, of user: UserID) {}
    /// Refuses the message.
    public func send(_ message: ChannelMessage, to user: UserID?) async throws(EngineError) {
        throw EngineError(.invalidState, message: "this channel does not support messages")
    }
}
