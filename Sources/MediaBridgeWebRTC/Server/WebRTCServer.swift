public import BridgeEngine
package import MediaBasics
internal import MediaBridge
internal import Synchronization

/// A WHEP and WHIP server for one engine: browsers and players watch what the engine publishes, and
/// senders are the users of its channel.
///
/// The engine that joins is the only user whose tracks are shared. Its video is encoded once for
/// all viewers; each viewer has a ``PeerConnection``. Viewers are not users of the channel. Senders
/// are, with a main track and audio if they send them. Both can send messages, under their names.
///
/// The server does not open a port. `listen(on:)` of `MediaBridgeHTTP`, or another HTTP library,
/// calls ``respond(to:body:)``.
///
/// ```swift
/// import MediaBridgeHTTP
///
/// var configuration = WebRTCServer.Configuration()
/// configuration.takesSenders = false
/// let server = WebRTCServer(configuration: configuration)
/// let engine = MediaEngine(transport: server)
/// try await engine.joinChannel("share", userID: "host")
/// let listener = try await server.listen(on: "127.0.0.1:8080")
/// ```
///
/// Thread: any.
public final class WebRTCServer: ChannelTransport {
    /// The settings.
    let configuration: Configuration

    private struct Current { weak var channel: ServedChannel? }
    private let current = Mutex(Current())
    private let makePeer: MakePeer
    let viewerPage: [UInt8]
    let senderPage: [UInt8]
    private let timeline: any Timeline

    /// Creates a server.
    ///
    /// - Parameter configuration: The settings. Default: no token; every client that reaches the
    ///   server may watch and send.
    public convenience init(configuration: Configuration = Configuration()) {
        self.init(configuration) { role, media, configuration, observer in
            PeerConnection(role, media, configuration: configuration, observer: observer)
        }
    }

    /// Creates a server with replaceable connections and clock.
    package init(
        _ configuration: Configuration, timeline: any Timeline = .system,
        makePeer: @escaping MakePeer
    ) {
        self.configuration = configuration
        self.makePeer = makePeer
        func page(_ file: [UInt8]) -> [UInt8] {
            Page.filled(
                file, title: configuration.title,
                asksForServers: !Self.links(to: configuration).isEmpty)
        }
        viewerPage = page(PackageResources.viewer_html)
        senderPage = page(PackageResources.sender_html)
        self.timeline = timeline
    }

    /// The channel of the engine that has joined.
    var channel: ServedChannel? {
        let channel = current.withLock { $0.channel }
        return channel?.isOver == false ? channel : nil
    }

    /// Makes the server serve an engine. The channel's name and the token of the request are
    /// ignored: any code with a reference to the server may join.
    ///
    /// - Throws: `EngineError.Code/channelFull` if another engine is served;
    ///   `EngineError.Code/invalidArgument` for a user without a name.
    package func join(
        _ request: ChannelRequest, receiver: any ChannelReceiver
    ) async throws(EngineError) -> any ChannelMembership {
        try await PeerConnection.preparing { () throws(EngineError) in
            try serve(request, receiver)
        }
    }

    private func serve(
        _ request: ChannelRequest, _ receiver: any ChannelReceiver
    ) throws(EngineError) -> any ChannelMembership {
        guard !request.userID.name.isEmpty else {
            throw EngineError(.invalidArgument, message: "the user ID is empty")
        }
        let channel = ServedChannel(
            request, receiver: receiver, configuration, timeline: timeline, makePeer: makePeer)
        // The last channel is released outside the lock.
        let (isFree, last) = current.withLock { current in
            let last = current.channel
            guard last?.isOver != false else { return (false, last) }
            current.channel = channel
            return (true, last)
        }
        _ = consume last
        guard isFree else {
            throw EngineError(
                .channelFull, message: "this server already serves another engine",
                advice: "leave the channel with that engine, or use another server")
        }
        return channel
    }

    /// The counts of the connection to each viewer, by the name of the viewer. Empty while no engine has joined.
    public var viewers: [UserID: PeerStatistics] { channel?.peers(.viewer) ?? [:] }

    /// The counts of the connection to each sender, by its user ID in the channel. Empty while no engine has joined.
    public var senders: [UserID: PeerStatistics] { channel?.peers(.sender) ?? [:] }
}

extension MediaEngine {
    /// Creates an engine whose channel is a server for browsers and players.
    ///
    /// - Parameters:
    ///   - configuration: The engine's settings; the defaults suit a call.
    ///   - transport: The server. It serves one engine at a time.
    public init(configuration: Configuration = Configuration(), transport: WebRTCServer) {
        self.init(
            configuration: configuration, backend: GStreamerBackend(), transport: transport)
    }
}

// MARK: - Configuration

extension WebRTCServer {
    /// The settings of a server.
    public struct Configuration: Sendable {
        /// The base path of the server, without a trailing slash: `/live` makes `/live/whep`.
        /// Default: none.
        public var path = ""
        /// Whether viewers are allowed: `/whep`, and the page at `/` and `/watch`. Default true.
        public var takesViewers = true
        /// Whether senders are allowed: `/whip`, and the page at `/send`, and at `/` if viewers are
        /// not allowed. Default true.
        public var takesSenders = true
        /// The title of the pages. Default `MediaBridge`.
        public var title = "MediaBridge"
        /// The token that viewers and senders need (`Authorization: Bearer`). The pages take it
        /// from their address (`#token=…`) or ask for it. Default `nil`: no token is needed.
        public var token: String?
        /// The additional origins whose pages may use the server: `https://HOST:PORT`, or `*` for
        /// all. The server's own origin is always allowed. Default: none; all if there is a
        /// ``token``. Without a token, any other page open in the user's browser could watch.
        public var allowedOrigins: [String] = []
        /// The host names under which the server is reached. IP addresses and `localhost` are
        /// always allowed. Without a ``token``, requests under other names are refused, because a
        /// foreign page could map its own host name to the server's address. `*` allows all.
        /// Default none.
        public var allowedHosts: [String] = []
        /// How peers are reached. A session that does not connect is kept for
        /// ``PeerConnection/Configuration/connectTimeout``.
        public var connection = PeerConnection.Configuration()
        /// The STUN and TURN servers announced to peers, in the form of
        /// ``PeerConnection/Configuration/iceServers``. Default `nil`: those of ``connection``.
        public var peerICEServers: [String]?
        /// The maximum number of viewers. Default 100.
        public var maximumViewers = 100
        /// The maximum number of senders. Default 16.
        public var maximumSenders = 16
        /// The maximum number of viewers and senders that are connecting at once. Default 32.
        public var maximumConnecting = 32

        /// Creates settings with the default values.
        public init() {}
    }
}
