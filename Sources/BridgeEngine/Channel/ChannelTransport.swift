public import MediaCore
internal import Synchronization

/// The connection between engines: a loopback inside the process, or a network.
public protocol ChannelTransport: Sendable {
    /// Joins a channel and returns when the channel has accepted the user.
    ///
    /// - Parameters:
    ///   - request: The channel, the user and the token.
    ///   - receiver: Receives the channel's events and frames from then on, starting with the users
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
public struct ChannelRequest: Equatable, Sendable {
    /// The name of the channel.
    public var channel: String
    /// The token that admits the user; `nil` if the channel requires none.
    public var token: String?
    /// The id under which the user joins; unique in the channel.
    public var userID: UserID
    /// Whether every video track is wanted from its beginning, without a call of
    /// ``ChannelMembership/setDemand(_:_:of:)``. An engine requests only tracks that have receivers.
    public var wantsAllTracks: Bool

    /// Creates a request to join a channel.
    ///
    /// - Parameters:
    ///   - channel: The name of the channel.
    ///   - token: The token that admits the user; by default none.
    ///   - userID: The id under which the user joins.
    ///   - wantsAllTracks: Whether every video track is wanted from its beginning. Default true.
    public init(
        channel: String, token: String? = nil, userID: UserID, wantsAllTracks: Bool = true
    ) {
        self.channel = channel
        self.token = token
        self.userID = userID
        self.wantsAllTracks = wantsAllTracks
    }
}

/// Checks the token of a request to join a channel.
///
/// Returns how long the token remains valid; `nil` for as long as the user stays. Throws ``EngineError`` with one
/// of the codes for tokens. Thread: any.
public typealias TokenVerifier =
    @Sendable (_ request: ChannelRequest) throws(EngineError) -> Duration?

// MARK: Membership

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

// MARK: Receiver

/// Receives the events and frames of a channel.
///
/// Events are delivered one at a time, in order. The frames and units of one track are delivered
/// one at a time, after ``trackPublished(_:by:)`` and before ``trackUnpublished(_:by:)`` or
/// ``userLeft(_:reason:)``; those of different tracks may be delivered concurrently. All calls come
/// on threads of the transport and must return quickly.
public protocol ChannelReceiver: AnyObject, Sendable {
    /// Called once for each user that is already in the channel, and for each user that joins.
    func userJoined(_ user: UserID)
    /// Called when a user has left. The user's tracks end then.
    func userLeft(_ user: UserID, reason: OfflineReason)
    /// Called when a user has announced a video track, before the track's first frame.
    func trackPublished(_ track: TrackID, by user: UserID)
    /// Called when a user has announced the end of a video track, after the track's last frame.
    func trackUnpublished(_ track: TrackID, by user: UserID)
    /// Called when a user has muted a video track, or sends it again.
    func trackMuted(_ isMuted: Bool, _ track: TrackID, by user: UserID)
    /// Called with each video frame of another user.
    func receive(_ frame: consuming VideoFrame, track: TrackID, from user: UserID)
    /// Called with each encoded unit of another user, in decoding order. The first unit is a key
    /// frame, and so is the first unit after a loss.
    func receive(_ unit: EncodedVideoFrame, track: TrackID, from user: UserID)
    /// Called when a user has announced audio, before the first audio frame.
    func audioPublished(by user: UserID)
    /// Called when a user has announced the end of its audio, after the last audio frame.
    func audioUnpublished(by user: UserID)
    /// Called when a user has muted its audio, or sends it again.
    func audioMuted(_ isMuted: Bool, by user: UserID)
    /// Called with each audio frame of another user.
    func receive(_ frame: consuming AudioFrame, from user: UserID)
    /// Called with each encoded unit of audio of another user, in timestamp order.
    func receive(_ unit: EncodedAudioFrame, from user: UserID)
    /// Called with a message that another user has sent to this user or to all.
    func receive(_ message: ChannelMessage, from user: UserID)
    /// Called when the connection to the channel is interrupted, with each attempt to restore it,
    /// and when it is restored. Users, tracks and publications are the same throughout; changes
    /// that happened meanwhile are reported after ``ChannelConnection/connected``.
    func connectionChanged(_ connection: ChannelConnection)
    /// Returns a token that is valid now. Called when the connection is restored, and before a
    /// token expires. If the returned token is not valid, the channel ends with one of the errors
    /// for tokens.
    ///
    /// - Returns: The token; `nil` to reuse the token of the request.
    func token(for reason: TokenReason) async throws(EngineError) -> String?
    /// Called when the channel is gone; no further callback follows.
    func disconnected(_ error: EngineError)
}

/// Why a channel asks for a token.
public enum TokenReason: Sendable {
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
    /// Returns `nil`: the request's token is reused.
    public func token(for reason: TokenReason) async throws(EngineError) -> String? { nil }
}

/// The receiver of a membership, as held by a transport: called until it is released, and never
/// after that.
///
/// Thread: any; ``call(_:)`` one call at a time.
package final class HeldReceiver: Sendable {
    /// One callback of the receiver. Tasks that the callback starts inherit this value, which
    /// identifies them.
    private struct Turn: Sendable {
        @TaskLocal static var current: Turn?
        let holder: HeldReceiver
        let number: Int
    }

    private struct State {
        /// `nil` once it is released.
        var receiver: (any ChannelReceiver)?
        var turn = 0
        var isInTurn = false

        mutating func beginTurn() -> (receiver: any ChannelReceiver, number: Int)? {
            guard let receiver else { return nil }
            turn += 1
            isInTurn = true
            return (receiver, turn)
        }
    }
    private let state: Mutex<State>

    package init(_ receiver: any ChannelReceiver) { state = Mutex(State(receiver: receiver)) }

    /// Calls `body` with the receiver.
    ///
    /// - Returns: False, without a call, if the receiver is released.
    @discardableResult
    package func call(_ body: (any ChannelReceiver) -> Void) -> Bool {
        guard let (receiver, number) = state.withLock({ $0.beginTurn() }) else { return false }
        Turn.$current.withValue(Turn(holder: self, number: number)) { body(receiver) }
        state.withLock { $0.isInTurn = false }
        return true
    }

    /// Asks the receiver for a token; `nil` if it is released, or has none.
    package func token(for reason: TokenReason) async throws(EngineError) -> String? {
        guard let receiver = state.withLock({ $0.receiver }) else { return nil }
        return try await receiver.token(for: reason)
    }

    /// Whether the receiver is released.
    package var isReleased: Bool { state.withLock { $0.receiver == nil } }

    /// Releases the receiver: no callback starts after this. A running callback continues.
    package func release() {
        // Released outside the lock, because that may run foreign code.
        _ = state.withLock { $0.receiver.take() }
    }

    /// Whether the caller runs in a task that the running callback has started, so that the
    /// callback may wait for it.
    package var isInOwnTurn: Bool {
        guard let own = Turn.current, own.holder === self else { return false }
        return state.withLock { $0.isInTurn && $0.turn == own.number }
    }
}
