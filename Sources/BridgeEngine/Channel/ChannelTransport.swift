public import MediaCore

/// The way between engines: a loopback in the process, or a network.
public protocol ChannelTransport: Sendable {
    /// Joins a channel, and returns when the channel has taken the user.
    ///
    /// - Parameter receiver: Hears of the others from then on, those who are there already first. The
    ///   transport holds it until ``ChannelMembership/leave()`` returns.
    /// - Throws: ``EngineError``, with the codes for tokens and user ids. `CancellationError` is told as
    ///   ``EngineError/Code/disconnected``.
    func join(
        _ request: ChannelRequest, receiver: any ChannelReceiver
    ) async throws(EngineError) -> any ChannelMembership
}

/// Who wants to join what.
public struct ChannelRequest: Hashable, Sendable {
    public var channel: String
    /// `nil` where the channel demands none.
    public var token: String?
    public var userID: UserID

    public init(channel: String, token: String? = nil, userID: UserID) {
        self.channel = channel
        self.token = token
        self.userID = userID
    }
}

/// A user's place in a channel.
public protocol ChannelMembership: AnyObject, Sendable {
    /// Says that a track will come, before its first frame.
    func publish(_ track: TrackID)

    /// Says that a track comes no more.
    func unpublish(_ track: TrackID)

    /// Sends one frame to everybody else. Never blocks, copies no pixel. Frames carry ``LiveTiming``, so
    /// that receivers on the same clock are in step. Thread: any, one at a time for each track.
    ///
    /// - Returns: Accepted where it goes out, whoever receives it; ``DropCause/notStarted`` for a track
    ///   that is not published; ``DropCause/closed`` after leaving.
    @discardableResult
    func send(_ frame: consuming VideoFrame, track: TrackID) -> FrameDisposition

    /// Says that sound will come, before its first frame. A user has one stream of it.
    func publishAudio()

    /// Says that sound comes no more.
    func unpublishAudio()

    /// Sends one piece of sound to everybody else; otherwise as ``send(_:track:)``.
    @discardableResult
    func send(_ frame: consuming AudioFrame) -> FrameDisposition

    /// Leaves, and ends the user's tracks. When it returns, the receiver hears nothing more. A second call
    /// does nothing.
    ///
    /// It waits for the receiver's call that is under way. A task that this call starts (with `Task`, not
    /// `Task.detached`) may leave nevertheless, even where the call waits for it.
    func leave() async

    /// What became of the frames so far; after leaving too.
    var statistics: ChannelStatistics { get }
}

extension ChannelMembership {
    // For channels without sound.
    public func publishAudio() {}
    public func unpublishAudio() {}
    @discardableResult
    public func send(_ frame: consuming AudioFrame) -> FrameDisposition { .notEnabled }
}

/// What a user hears from a channel. Called one at a time, in order, on the transport's thread; returns
/// soon.
///
/// What is told of a user's end (``trackUnpublished(_:by:)``, ``userLeft(_:reason:)``) comes behind the
/// last of that user's frames.
public protocol ChannelReceiver: AnyObject, Sendable {
    func userJoined(_ user: UserID)
    /// The user's tracks are gone with him.
    func userLeft(_ user: UserID, reason: OfflineReason)
    func trackPublished(_ track: TrackID, by user: UserID)
    func trackUnpublished(_ track: TrackID, by user: UserID)
    func receive(_ frame: consuming VideoFrame, track: TrackID, from user: UserID)
    func audioPublished(by user: UserID)
    func audioUnpublished(by user: UserID)
    func receive(_ frame: consuming AudioFrame, from user: UserID)
    /// The channel is gone; nothing follows.
    func disconnected(_ error: EngineError)
}

extension ChannelReceiver {
    // For those who do not listen.
    public func audioPublished(by user: UserID) {}
    public func audioUnpublished(by user: UserID) {}
    public func receive(_ frame: consuming AudioFrame, from user: UserID) {}
}

/// What checks the token of somebody who wants to join.
public protocol TokenVerifier: Sendable {
    /// - Throws: ``EngineError`` with one of the codes for tokens.
    func verify(_ request: ChannelRequest) throws(EngineError)
}
