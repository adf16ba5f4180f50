public import MediaCore

/// The connection between engines: a loopback inside the process, or a network.
public protocol ChannelTransport: Sendable {
    /// Joins a channel and returns when the channel has accepted the user.
    ///
    /// - Parameters:
    ///   - request: The channel, the user and the token.
    ///   - receiver: Receives the channel's events and frames from then on, starting with the users
    ///     who are already in the channel. The transport retains it until
    ///     ``ChannelMembership/leave()`` returns.
    /// - Throws: ``EngineError``, with the codes for tokens and user ids. `CancellationError` is
    ///   reported as ``EngineError/Code/disconnected``.
    func join(
        _ request: ChannelRequest, receiver: any ChannelReceiver
    ) async throws(EngineError) -> any ChannelMembership
}

/// A request to join a channel.
public struct ChannelRequest: Hashable, Sendable {
    /// The name of the channel.
    public var channel: String
    /// The token that admits the user; `nil` if the channel requires none.
    public var token: String?
    /// The id under which the user joins; unique in the channel.
    public var userID: UserID

    /// Creates a request to join a channel.
    ///
    /// - Parameters:
    ///   - channel: The name of the channel.
    ///   - token: The token that admits the user; by default none.
    ///   - userID: The id under which the user joins.
    public init(channel: String, token: String? = nil, userID: UserID) {
        self.channel = channel
        self.token = token
        self.userID = userID
    }
}

/// The membership of one user in a channel.
public protocol ChannelMembership: AnyObject, Sendable {
    /// Announces a video track. Call it before the track's first frame.
    func publish(_ track: TrackID)

    /// Announces the end of a video track.
    func unpublish(_ track: TrackID)

    /// Sends one video frame to all other users. Never blocks and copies no pixels. Frames carry
    /// ``LiveTiming``, so that receivers on the same clock render in sync. Thread: any, one call at
    /// a time for each track.
    ///
    /// - Returns: Accepted if the frame was sent, regardless of who receives it;
    ///   ``DropCause/notStarted`` for a track that is not published; ``DropCause/closed`` after
    ///   leaving.
    @discardableResult
    func send(_ frame: consuming VideoFrame, track: TrackID) -> FrameDisposition

    /// The codecs whose units the channel carries as they are. Pictures are sent if a stream comes in
    /// any other form. Default: none.
    var codecs: Set<EncodedVideoFrame.Codec> { get }

    /// Sends one encoded unit of a codec in ``codecs``, in the order of decoding; otherwise like
    /// ``send(_:track:)-(VideoFrame,_)``.
    @discardableResult
    func send(_ unit: EncodedVideoFrame, track: TrackID) -> FrameDisposition

    /// Announces the user's audio. Call it before the first audio frame. A user has one audio
    /// stream.
    func publishAudio()

    /// Announces the end of the user's audio.
    func unpublishAudio()

    /// Sends one audio frame to all other users; otherwise like ``send(_:track:)-(VideoFrame,_)``.
    @discardableResult
    func send(_ frame: consuming AudioFrame) -> FrameDisposition

    /// Leaves the channel and ends the user's tracks. When it returns, the receiver is called no
    /// more. A second call does nothing.
    ///
    /// It waits for a receiver callback that is running. A task that this callback starts (with
    /// `Task`, not `Task.detached`) may nevertheless call it, even if the callback waits for that
    /// task.
    func leave() async

    /// The counts of sent and received frames so far; available after leaving too.
    var statistics: ChannelStatistics { get }
}

extension ChannelMembership {
    // Defaults for channels without units and without audio.
    /// None.
    public var codecs: Set<EncodedVideoFrame.Codec> { [] }
    /// Drops the unit.
    ///
    /// - Returns: ``FrameDisposition/notEnabled``.
    @discardableResult
    public func send(_ unit: EncodedVideoFrame, track: TrackID) -> FrameDisposition {
        .notEnabled
    }
    /// Does nothing.
    public func publishAudio() {}
    /// Does nothing.
    public func unpublishAudio() {}
    /// Drops the frame.
    ///
    /// - Returns: ``FrameDisposition/notEnabled``.
    @discardableResult
    public func send(_ frame: consuming AudioFrame) -> FrameDisposition { .notEnabled }
}

/// Receives the events and frames of a channel. Called one at a time, in order, on the transport's
/// thread; callbacks must return quickly.
///
/// The callbacks that report the end of a track or of a user (``trackUnpublished(_:by:)``,
/// ``userLeft(_:reason:)``) come after the last of that user's frames.
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
    /// Called with each video frame of another user.
    func receive(_ frame: consuming VideoFrame, track: TrackID, from user: UserID)
    /// Called with each encoded unit of another user, in the order of decoding. The first one is a key
    /// frame, and so is the first one after a loss.
    func receive(_ unit: EncodedVideoFrame, track: TrackID, from user: UserID)
    /// Called when another user needs a key frame of one of the receiver's own tracks: it has just
    /// come, or has lost a unit.
    func keyFrameNeeded(_ track: TrackID)
    /// Called when a user has announced audio, before the first audio frame.
    func audioPublished(by user: UserID)
    /// Called when a user has announced the end of its audio, after the last audio frame.
    func audioUnpublished(by user: UserID)
    /// Called with each audio frame of another user.
    func receive(_ frame: consuming AudioFrame, from user: UserID)
    /// Called when the channel is gone; no further callback follows.
    func disconnected(_ error: EngineError)
}

extension ChannelReceiver {
    // Defaults for receivers that ignore units and audio.
    /// Discards the unit.
    public func receive(_ unit: EncodedVideoFrame, track: TrackID, from user: UserID) {}
    /// Does nothing.
    public func keyFrameNeeded(_ track: TrackID) {}
    /// Does nothing.
    public func audioPublished(by user: UserID) {}
    /// Does nothing.
    public func audioUnpublished(by user: UserID) {}
    /// Discards the frame.
    public func receive(_ frame: consuming AudioFrame, from user: UserID) {}
}

/// Checks the token of a user who wants to join a channel.
public protocol TokenVerifier: Sendable {
    /// Checks the request's token. Returns normally if the user may join.
    ///
    /// - Throws: ``EngineError`` with one of the codes for tokens.
    func verify(_ request: ChannelRequest) throws(EngineError)
}
