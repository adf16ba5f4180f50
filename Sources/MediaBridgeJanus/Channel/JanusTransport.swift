public import BridgeEngine
package import MediaBasics
internal import MediaBridge
@_exported public import MediaBridgeWebRTC

/// Channels over a Janus server: a channel is a room of the server's VideoRoom plugin, and a user is a
/// participant of that room.
///
/// The server must be set to `string_ids = true`. Media goes over WebRTC (`PeerConnection`), video as
/// H.264 or VP8, audio as Opus; signalling goes over a WebSocket. Thread: any.
///
/// ```swift
/// let janus = try JanusTransport(server: "wss://media.example.org/janus")
/// let engine = MediaEngine(transport: janus)
/// try await engine.joinChannel("room", userID: "anna")
/// ```
///
/// Limits of Janus 1.1:
/// - A message to one user is sent to every member of the room; the other members' programs discard
///   it. Only users that are connected at that moment receive messages.
/// - A room limits the number of senders, not of members. A full room is therefore reported by
///   `PublicationState.failed(_:)` with `EngineError.Code/channelFull`, not by `join`.
/// - The sender does not learn whether a track has receivers: it sends as long as the track is
///   published.
/// - A user that leaves with a program that does not use this library may be reported as
///   `OfflineReason.dropped`.
public struct JanusTransport: ChannelTransport {
    /// How channels are reached.
    public struct Configuration: Sendable {
        /// The WebRTC connections that carry the media: STUN and TURN servers, bit rate.
        public var connection = PeerConnection.Configuration()
        /// A PEM file with the certificate authorities for the server's certificate. Default `nil`:
        /// those of the system.
        public var caFile: String?
        /// How to create a room that does not exist. Default `nil`: a missing room is an error.
        public var roomCreation: RoomCreation?
        /// The PIN of the room. Default `nil`: none. A room that is created gets this PIN.
        public var pin: String?
        /// How long connecting the WebSocket may take. Default 5 s.
        public var connectTimeout = Duration.seconds(5).asDefaultDeadline
        /// How long the server may take to answer a request. Default 5 s.
        public var requestTimeout = Duration.seconds(5).asDefaultDeadline
        /// How long the server may be silent before the connection counts as interrupted. The
        /// server is pinged four times in that time. Default 2.2 s.
        public var silenceTimeout = Duration.milliseconds(2200).asDefaultDeadline
        /// The server's `session_timeout`, after which it removes a user that has disappeared.
        /// Default 60 s.
        public var sessionTimeout = Duration.seconds(60)
        /// How an interrupted connection is restored.
        public var reconnection = Reconnection()

        /// The clock by which tokens are renewed.
        package var timeline: any Timeline = .system

        /// Creates a configuration with the default values.
        public init() {}
    }

    /// How rooms are created.
    public struct RoomCreation: Sendable {
        /// The `admin_key` of the plugin. Default `nil`: none.
        public var adminKey: String?
        /// The room's `publishers`: the maximum number of users that send at once. A custom track counts as a user.
        /// Default 32.
        public var maximumPublishers = 32
        /// The room's `signed_tokens`: whether users need tokens, if the server uses them. Default true.
        public var requiresTokens = true

        /// Creates the settings of rooms, with the default values of the other properties.
        public init(adminKey: String? = nil) { self.adminKey = adminKey }
    }

    /// How an interrupted connection is restored.
    public struct Reconnection: Sendable {
        /// The maximum delay before the first attempt. Each further delay is twice as long, minus a
        /// random part of up to half of it. Default 500 ms.
        public var firstDelay = Duration.milliseconds(500)
        /// The maximum delay before an attempt. Default 8 s.
        public var longestDelay = Duration.seconds(8)
        /// How long after the interruption reconnecting is given up. Default `nil`: never.
        public var timeout: Duration?
        /// How long to wait for users and tracks that are missing after the interruption, and for users whose own
        /// connection to the server was lost. Default 10 s.
        public var returnTimeout = Duration.seconds(10)

        /// Creates the default values.
        public init() {}

        var policy: RestartPolicy {
            var policy = RestartPolicy()
            (policy.delay, policy.longestDelay) = (firstDelay, longestDelay)
            return policy
        }
    }

    let address: ServerAddress
    let configuration: Configuration

    /// Creates a transport. Nothing is connected yet.
    ///
    /// - Parameters:
    ///   - server: The address of the server's WebSocket: `ws://HOST:PORT/PATH`, or `wss://…` for
    ///     TLS, which verifies the server's certificate.
    ///   - configuration: How channels are reached.
    /// - Throws: `EngineError` with the code `invalidArgument` if `server` is not such an address.
    public init(
        server: String, configuration: Configuration = Configuration()
    ) throws(EngineError) {
        guard let address = ServerAddress(server) else {
            throw EngineError(
                .invalidArgument,
                // An address with "@" or "?" may contain a password or a token.
                message: "invalid WebSocket address"
                    + (server.contains(/[@?]/) ? "" : ": \"\(server)\""),
                advice: "ws://HOST:PORT/PATH or wss://HOST:PORT/PATH")
        }
        self.address = address
        self.configuration = configuration
    }

    /// Joins a channel.
    ///
    /// - Throws: `EngineError`: `unreachable`; `userIDTaken`; the token codes, which also stand for
    ///   a missing or wrong PIN; `invalidArgument` for a channel that does not exist and is not to
    ///   be created, for a server without `string_ids`, and for a user ID that ends like a track's
    ///   (`~track~1`); `disconnected` if the task is cancelled.
    package func join(
        _ request: ChannelRequest, receiver: any ChannelReceiver
    ) async throws(EngineError) -> any ChannelMembership {
        try request.checkNames()
        guard FeedID(request.userID.name).track == .main else {
            throw EngineError(
                .invalidArgument,
                message: "invalid user ID \(request.userID): it ends like the name of a track",
                advice: "a user ID that does not end with ~track~ and a number")
        }
        let queue = ReceiverQueue(receiver, label: "mediabridge.janus.\(request.userID)")
        let member = JanusMember(request, at: address, configuration, queue)
        do throws(EngineError) {
            try await PeerConnection.preparing { () async throws(EngineError) in
                try await member.join()
            }
        } catch {
            queue.release()
            await member.leave()
            throw error
        }
        return JanusMembership(member)
    }
}

extension MediaEngine {
    /// Creates an engine whose channels are rooms of a Janus server.
    ///
    /// - Parameters:
    ///   - configuration: The engine's settings; the defaults suit a call.
    ///   - transport: Reaches the server.
    public init(configuration: Configuration = Configuration(), transport: JanusTransport) {
        self.init(
            configuration: configuration, backend: GStreamerBackend(), transport: transport)
    }
}

/// A user's membership in a room. The user leaves when the last reference is released.
private final class JanusMembership: ChannelMembership {
    private let member: JanusMember

    init(_ member: JanusMember) { self.member = member }

    deinit {
        member.queue.release()
        member.note { member in Task { await member.leave() } }
    }

    func publish(
        _ stream: MediaTrackID, feedback: (any PublicationFeedback)?
    ) -> any ChannelPublication {
        guard case .video(let track) = stream else {
            return JanusPublication(member.media(of: .main), .audio, nil)
        }
        return JanusPublication(member.media(of: track), .video, feedback)
    }

    func setDemand(_ demand: VideoLimit?, _ track: TrackID, of user: UserID) {
        member.note { member in
            member.demands[.init(user: user, stream: .video(track))] = .some(demand)
            member.updateReceiving()
        }
    }

    func requestKeyFrame(_ track: TrackID, of user: UserID) {
        let feed = FeedID(user: user, track: track)
        member.note { $0.receiving[feed]?.media.requestKeyFrame() }
    }

    func send(_ message: ChannelMessage, to user: UserID?) async throws(EngineError) {
        try await member.send(message, to: user)
    }

    func leave() async {
        // First, so that the user receives nothing more once the others know that it left.
        member.queue.release()
        await member.leave()
        await member.queue.silence()
    }

    var statistics: ChannelStatistics { member.ledger.statistics }
}
