package import MediaCore

/// The connection between engines.
package protocol ChannelTransport: Sendable {
    /// Joins a channel and returns when the channel has accepted the user.
    ///
    /// - Parameters:
    ///   - request: The channel, the user and the token.
    ///   - receiver: Receives the channel's events and media from then on, starting with the users
    ///     already in the channel. The transport retains it until ``ChannelMembership/leave()``
    ///     returns.
    /// - Throws: ``EngineError``, with the codes for tokens and user ids,
    ///   ``EngineError/Code/channelFull``, ``EngineError/Code/unreachable``. `CancellationError` is
    ///   reported as ``EngineError/Code/disconnected``.
    func join(
        _ request: ChannelRequest, receiver: any ChannelReceiver
    ) async throws(EngineError) -> any ChannelMembership
}

/// A request to join a channel.
package struct ChannelRequest: Equatable, Sendable {
    /// The name of the channel.
    package var channel: String
    /// The token that admits the user; `nil` if the channel requires none.
    package var token: String?
    /// The id under which the user joins; unique in the channel.
    package var userID: UserID
    /// Whether every video track is wanted from its beginning, without a call of
    /// ``ChannelMembership/setDemand(_:_:of:)``. An engine requests only tracks that have receivers.
    package var wantsAllTracks: Bool

    package init(
        channel: String, token: String? = nil, userID: UserID, wantsAllTracks: Bool = true
    ) {
        self.channel = channel
        self.token = token
        self.userID = userID
        self.wantsAllTracks = wantsAllTracks
    }

    /// - Throws: ``EngineError/Code/invalidArgument`` for a channel or a user without a name.
    package func checkNames() throws(EngineError) {
        guard !channel.isEmpty else {
            throw EngineError(.invalidArgument, message: "the channel name is empty")
        }
        guard !userID.name.isEmpty else {
            throw EngineError(
                .invalidArgument, message: "the user ID for channel \(channel) is empty")
        }
    }
}

/// Why a channel asks for a token.
package enum TokenReason: Sendable {
    /// The connection was interrupted and is being restored.
    case reconnecting
    /// The token expires soon.
    case expiring
}

// MARK: Membership

/// The membership of one user in a channel, from joining to leaving.
///
/// A connection that is cut and comes back is the same membership: see
/// ``MembershipEvent/reconnecting(attempt:_:)``.
package protocol ChannelMembership: AnyObject, Sendable {
    /// Announces a stream. Returns at once; ``PublicationFeedback/stateChanged(_:)`` reports the
    /// progress of video.
    ///
    /// - Parameters:
    ///   - stream: The stream. A user has at most one publication of each.
    ///   - feedback: Receives the channel's requests to the publisher of video; not called for
    ///     audio. Retained until the publication ends.
    /// - Returns: The publication, which sends the stream. The announcement ends with
    ///   ``ChannelPublication/end()``, or with the membership.
    func publish(
        _ stream: MediaTrackID, feedback: (any PublicationFeedback)?
    ) -> any ChannelPublication

    /// Sets the user's demand for another user's track. A track without a demand is not transported
    /// or decoded. The demand also applies to a track that does not exist yet, and after the other
    /// user rejoins. Returns at once.
    ///
    /// - Parameters:
    ///   - demand: The most that is useful; `nil` if the track is not wanted. If the channel cannot
    ///     adapt the track, it arrives unchanged.
    ///   - track: The number of the track.
    ///   - user: The user that publishes the track.
    func setDemand(_ demand: VideoLimit?, _ track: TrackID, of user: UserID)

    /// Requests a key frame of another user's track, because a received frame cannot be decoded
    /// without one. May be called for every such frame: the channel limits how often it forwards the
    /// request. If the channel itself loses a frame, it requests a key frame without this call.
    func requestKeyFrame(_ track: TrackID, of user: UserID)

    /// Sends a message to one user or to all others. Messages arrive whole, once and in order.
    ///
    /// - Parameters:
    ///   - message: At most ``ChannelMessage/maximumSize`` bytes.
    ///   - user: The recipient; `nil` for all others.
    /// - Throws: ``EngineError/Code/invalidArgument`` for a message that is too long or a user that
    ///   is not in the channel; ``EngineError/Code/notInChannel`` after leaving.
    func send(_ message: ChannelMessage, to user: UserID?) async throws(EngineError)

    /// Leaves the channel and ends the user's streams. After it returns, the receiver and the
    /// feedback of all publications are no longer called. A second call does nothing.
    ///
    /// It waits for a running callback. A task that this callback starts (with `Task`, not
    /// `Task.detached`) may nevertheless call it, even if the callback waits for that task.
    func leave() async

    /// The counts of sent and received frames so far; also available after leaving.
    var statistics: ChannelStatistics { get }
}

// MARK: Publications

/// The publication of one stream in a channel.
///
/// Thread: any; one call of ``send(_:)`` at a time.
package protocol ChannelPublication: AnyObject, Sendable {
    /// The codecs of the encoded video frames that the channel carries unchanged. A stream in any other
    /// form is sent as pictures. ``PublicationFeedback/codecsChanged()`` reports a change. Default: none.
    var videoCodecs: Set<VideoCodec> { get }

    /// The codecs of the encoded audio frames that the channel carries unchanged. Default: none.
    var audioCodecs: Set<AudioCodec> { get }

    /// Whether the channel carries unencoded pictures and samples, as only a channel within a
    /// process does; otherwise they are encoded before they are sent. Default false.
    var carriesFrames: Bool { get }

    /// Whether the channel carries encoded frames whose display order differs from their decoding order
    /// (B-frames); otherwise their pictures are encoded again. Default false: RTP has no decoding
    /// times.
    var carriesReorderedUnits: Bool { get }

    /// The fraction of audio packets that receivers have lost recently, from 0 to 1, as far as an
    /// encoder's redundancy can help them. Read for each frame. Default 0.
    var lossOfReceivers: Double { get }

    /// Sends media to all users that want the stream. Encoded frames are sent in decoding order. Never
    /// blocks and copies no pixels. Media carries ``LiveTiming``, so that receivers on the same
    /// clock render in sync.
    ///
    /// - Returns: Accepted if the media was sent, regardless of its receivers;
    ///   ``DropCause/muted``; ``DropCause/notStarted`` after ``end()``; ``DropCause/closed`` after
    ///   leaving the channel.
    @discardableResult
    func send(_ media: consuming ChannelMedia) -> FrameDisposition

    /// Mutes the stream, or sends it again. The other users are notified, and nothing is sent while
    /// the stream is muted. After that, encoded video begins with a key frame.
    func setMuted(_ isMuted: Bool)

    /// Announces the end of the stream, after its last frame. A second call does nothing.
    func end()
}

extension ChannelPublication {
    package var videoCodecs: Set<VideoCodec> { [] }
    package var audioCodecs: Set<AudioCodec> { [] }
    package var carriesFrames: Bool { false }
    package var carriesReorderedUnits: Bool { false }
    package var lossOfReceivers: Double { 0 }
}

/// Receives the channel's requests to the publisher of a track. Called one at a time, in order with
/// the callbacks of the ``ChannelReceiver``; must return quickly.
package protocol PublicationFeedback: AnyObject, Sendable {
    /// Called when a receiver needs a key frame because it has just joined or has lost a frame.
    /// Called again if no key frame has arrived after a while.
    func keyFrameNeeded()
    /// Called when the limit of the receivers and the network changes. Initially there is none.
    func limitChanged(_ limit: VideoLimit)
    /// Called when ``ChannelPublication/videoCodecs`` has changed because a receiver refused a
    /// codec. The following frames must be in one of these codecs.
    ///
    /// - Returns: Whether the publisher can send one of them.
    func codecsChanged() -> Bool
    /// Called with each state of the publication, including the first.
    func stateChanged(_ state: PublicationState)
}

// MARK: Events and media

/// An event of a channel, as its members get it.
package enum MembershipEvent: Sendable {
    /// A user has joined, or is already in the channel.
    case joined(UserID)
    /// A user has left. The user's streams end then.
    case left(UserID, OfflineReason)
    /// A user has announced a stream; before its first frame.
    case published(MediaTrackID, by: UserID)
    /// A user has announced the end of a stream; after its last frame.
    case unpublished(MediaTrackID, by: UserID)
    /// A user has muted a stream, or sends it again.
    case muted(Bool, MediaTrackID, by: UserID)
    /// Another user has sent a message to this user or to all.
    case message(ChannelMessage, from: UserID)
    /// The connection to the channel is interrupted and is being restored: the number of the
    /// attempt, from 1, and why the previous one failed. Users, streams and publications are the
    /// same throughout.
    case reconnecting(attempt: Int, EngineError)
    /// The connection is restored. The changes that happened meanwhile are reported after it.
    case reconnected
    /// The channel is gone; no further callback follows.
    case disconnected(EngineError)
}

/// What a stream carries: pictures or samples, or encoded frames.
package enum ChannelMedia: Sendable {
    case picture(VideoFrame)
    case unit(EncodedVideoFrame)
    case samples(AudioFrame)
    case audioUnit(EncodedAudioFrame)
}

/// Receives the events and media of a channel.
///
/// Events are delivered one at a time, in order. The media of one stream is delivered one at a
/// time, after the event that announces the stream and before the event that ends it; that of
/// different streams may be delivered concurrently. All calls come on threads of the transport and
/// must return quickly.
package protocol ChannelReceiver: AnyObject, Sendable {
    /// Called with each event.
    func handle(_ event: MembershipEvent)
    /// Called with the media of another user; encoded frames come in decoding order. Encoded video
    /// begins with a key frame, also after a loss.
    func receive(_ media: consuming ChannelMedia, _ stream: MediaTrackID, from user: UserID)
    /// Returns a token that is valid now. Called when the connection is restored, and before a
    /// token expires. If the returned token is not valid, the channel ends with one of the errors
    /// for tokens.
    ///
    /// - Returns: The token; `nil` to reuse the token of the request.
    func token(for reason: TokenReason) async throws(EngineError) -> String?
}
