/// The membership of one user in a channel, from joining to leaving.
///
/// A connection that is cut and comes back is the same membership: see
/// ``ChannelReceiver/connectionChanged(_:)``.
public protocol ChannelMembership: AnyObject, Sendable {
    /// Announces a video track. Returns at once; ``PublicationFeedback/stateChanged(_:)`` tells how it
    /// goes.
    ///
    /// - Parameters:
    ///   - track: The track's number. A user has at most one publication of each.
    ///   - feedback: Receives what the channel asks of the publisher. Retained until the publication
    ///     ends.
    /// - Returns: The way to send. The track's announcement ends with
    ///   ``VideoPublication/end()``, or with the membership.
    func publish(
        _ track: TrackID, feedback: any PublicationFeedback
    ) -> any VideoPublication

    /// Announces the user's audio. A user has at most one publication of audio at a time.
    ///
    /// - Returns: The way to send. The announcement ends with ``AudioPublication/end()``, or with the
    ///   membership.
    func publishAudio() -> any AudioPublication

    /// Says what the user wants of another user's track. A track that is not wanted is neither
    /// transported nor decoded. Holds for a track that does not exist yet, and for a user who comes
    /// again. Returns at once.
    ///
    /// - Parameters:
    ///   - demand: What is wanted; `nil` for nothing. What the channel cannot adapt arrives as it is.
    ///   - track: The number of the track.
    ///   - user: The user who publishes it.
    func want(_ demand: VideoDemand?, _ track: TrackID, of user: UserID)

    /// Asks for a key frame of another user's track, because one that came cannot be decoded without.
    /// May be called for every such unit: the channel decides how often it passes that on. What a
    /// channel itself loses, it asks for itself.
    func requestKeyFrame(_ track: TrackID, of user: UserID)

    /// Sends a message to one user or to all others. Messages arrive whole, once and in order.
    ///
    /// - Parameters:
    ///   - message: At most ``ChannelMessage/maximumSize`` bytes.
    ///   - user: The user to whom it is sent; `nil` for all others.
    /// - Throws: ``EngineError/Code/invalidArgument`` for a message that is too long or a user who is
    ///   not in the channel; ``EngineError/Code/notInChannel`` after leaving.
    func send(_ message: ChannelMessage, to user: UserID?) async throws(EngineError)

    /// Leaves the channel and ends the user's tracks. When it returns, the receiver and the feedback
    /// of all publications are called no more. A second call does nothing.
    ///
    /// It waits for a callback that is running. A task that this callback starts (with `Task`, not
    /// `Task.detached`) may nevertheless call it, even if the callback waits for that task.
    func leave() async

    /// The counts of sent and received frames so far; available after leaving too.
    var statistics: ChannelStatistics { get }
}

extension ChannelMembership {
    // Defaults for channels without audio, messages, or a choice of tracks.
    /// A publication that drops everything as ``FrameDisposition/notEnabled``.
    public func publishAudio() -> any AudioPublication { NoAudioPublication() }
    /// Does nothing: every track is transported.
    public func want(_ demand: VideoDemand?, _ track: TrackID, of user: UserID) {}
    /// Does nothing.
    public func requestKeyFrame(_ track: TrackID, of user: UserID) {}
    /// Refuses the message.
    public func send(_ message: ChannelMessage, to user: UserID?) async throws(EngineError) {
        throw EngineError(.invalidState, message: "this channel does not support messages")
    }
}
