public import BridgeEngine
package import MediaBasics
public import MediaBridgeWebRTC

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
/// What Janus 1.1 cannot do:
/// - A message to one user is passed to every member of the room, whose programs keep it from their users.
///   Messages reach those who are connected at that moment.
/// - A room counts those who send, not those who are there: a full one is told by
///   `PublicationState.failed(_:)` with `EngineError.Code/channelFull`, not by `join`.
/// - The sender does not learn whether anybody takes a track: it is sent as long as it is published.
/// - A user who leaves by another program than this library may be told as `OfflineReason.dropped`.
public struct JanusTransport: ChannelTransport {
    /// How channels are reached.
    public struct Configuration: Sendable {
        /// How media reaches the server: STUN and TURN servers, bit rate.
        public var media = PeerConnection.Configuration()
        /// A PEM file of the authorities that sign the server's certificate; `nil`, the default, for those
        /// of the system.
        public var caFile: String?
        /// How a room that does not exist is created; `nil`, the default: it is an error.
        public var roomCreation: RoomCreation?
        /// The PIN of the room; `nil`, the default, if it has none. A room that is created gets it.
        public var pin: String?
        /// How long connecting may take. Default 5 s.
        public var connectDeadline = Duration.seconds(5).asDefaultDeadline
        /// How long the server may take to answer a request. Default 5 s.
        public var requestDeadline = Duration.seconds(5).asDefaultDeadline
        /// How long nothing may come from the server, which is asked for a sign four times in that time,
        /// before the connection counts as interrupted. Default 2.2 s.
        public var silenceLimit = Duration.milliseconds(2200).asDefaultDeadline
        /// The server's `session_timeout`, after which it forgets a user who is gone. Default 60 s.
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
        /// The `admin_key` of the plugin; `nil`, the default, if it has none.
        public var adminKey: String?
        /// The most users who send at once. A custom track counts like a user. Default 32.
        public var capacity = 32
        /// Whether users need tokens for the room, where the server has signed tokens. Default true.
        public var demandsTokens = true

        /// Creates the settings of rooms.
        public init(adminKey: String? = nil) { self.adminKey = adminKey }
    }

    /// How an interrupted connection is restored.
    public struct Reconnection: Hashable, Sendable {
        /// How long the first attempt waits at most. Each one waits twice as long as the one before, and up
        /// to half of it less, by chance. Default 500 ms.
        public var firstDelay = Duration.milliseconds(500)
        /// How long an attempt waits at most. Default 8 s.
        public var longestDelay = Duration.seconds(8)
        /// How long after the interruption the channel is given up; `nil`, the default: never.
        public var limit: Duration?
        /// How long users and tracks that are missing after the interruption are waited for. Default 10 s.
        public var returnLimit = Duration.seconds(10)

        /// Creates the default values.
        public init() {}

        var backoff: Backoff { Backoff(first: firstDelay, longest: longestDelay) }
    }

    let address: ServerAddress
    let configuration: Configuration

    /// Creates a transport. Nothing is connected yet.
    ///
    /// - Parameters:
    ///   - server: The address of the server's WebSocket: `ws://HOST:PORT/PATH`, or `wss://…` for TLS, in
    ///     which the server's certificate is checked.
    ///   - configuration: How channels are reached.
    /// - Throws: `EngineError` with the code `invalidArgument` if `server` is no such address.
    public init(
        server: String, configuration: Configuration = Configuration()
    ) throws(EngineError) {
        guard let address = ServerAddress(server) else {
            throw EngineError(
                .invalidArgument, message: "invalid WebSocket address: \"\(server)\"",
                advice: "ws://HOST:PORT/PATH or wss://HOST:PORT/PATH")
        }
        self.address = address
        self.configuration = configuration
    }

    /// Joins a channel.
    ///
    /// - Throws: `EngineError`: `unreachable`; `userIDTaken`; the codes for tokens, which also stand for a
    ///   PIN that is missing or wrong; `invalidArgument` for a channel that does not exist and is not to
    ///   be created, for a server without `string_ids`, and for a user id that ends like a track's
    ///   (`~track~1`); `disconnected` in a task that is cancelled.
    public func join(
        _ request: ChannelRequest, receiver: any ChannelReceiver
    ) async throws(EngineError) -> any ChannelMembership {
        guard !request.channel.isEmpty else {
            throw EngineError(.invalidArgument, message: "the channel name is empty")
        }
        guard !request.userID.name.isEmpty else {
            throw EngineError(
                .invalidArgument, message: "the user ID for channel \(request.channel) is empty")
        }
        guard FeedID(request.userID.name).track == .main else {
            throw EngineError(
                .invalidArgument,
                message: "invalid user ID \(request.userID): it ends like the name of a track",
                advice: "a user ID that does not end with ~track~ and a number")
        }
        let inbox = Inbox(receiver, label: "mediabridge.janus.\(request.userID)")
        let member = JanusMember(request, at: address, configuration, inbox)
        do throws(EngineError) {
            try await PeerConnection.preparing { () async throws(EngineError) in
                try await member.join()
            }
        } catch {
            inbox.letGo()
            await member.leave()
            throw error
        }
        return JanusMembership(member, inbox)
    }
}
