public import BridgeEngine
package import MediaBasics
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
/// var configuration = WebRTCServer.Configuration()
/// configuration.takesSenders = false
/// let server = WebRTCServer(configuration)
/// let engine = MediaEngine(transport: server)
/// try await engine.joinChannel("share", userID: "host")
/// let listener = try await server.listen(on: "127.0.0.1:8080")
/// ```
///
/// Thread: any.
public final class WebRTCServer: ChannelTransport {
    /// The settings.
    public let configuration: Configuration

    private let current = Mutex<ServedChannel?>(nil)
    private let makePeer: MakePeer
    private let timeline: any Timeline

    /// Creates a server.
    ///
    /// - Parameter configuration: The settings. Default: no token; every client that reaches the
    ///   server may watch and send.
    public convenience init(_ configuration: Configuration = Configuration()) {
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
        self.timeline = timeline
    }

    /// The channel of the engine that has joined.
    var channel: ServedChannel? { current.withLock { $0 } }

    /// Makes the server serve an engine. The channel's name and the token of the request are
    /// ignored: any code with a reference to the server may join.
    ///
    /// - Throws: `EngineError.Code/channelFull` if another engine is served;
    ///   `EngineError.Code/invalidArgument` for a user without a name.
    public func join(
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
            request, receiver: receiver,
            capacity: .init(
                viewers: configuration.maximumViewers, senders: configuration.maximumSenders,
                connecting: configuration.maximumConnecting),
            configuration: configuration.connection, timeline: timeline, makePeer: makePeer)
        let isFree = current.withLock { current in
            guard current == nil else { return false }
            current = channel
            return true
        }
        guard isFree else {
            throw EngineError(
                .channelFull, message: "this server already serves another engine",
                advice: "leave the channel with that engine, or use another server")
        }
        return ServedMembership(channel) { [weak self] channel in
            self?.current.withLock { current in
                if current === channel { current = nil }
            }
        }
    }

    /// The connection counts of the viewers, by name.
    public var viewers: [UserID: PeerStatistics] { channel?.peers(.viewer) ?? [:] }

    /// The connection counts of the senders, by name.
    public var senders: [UserID: PeerStatistics] { channel?.peers(.sender) ?? [:] }
}
