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
public struct ChannelRequest: Hashable, Sendable {
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
