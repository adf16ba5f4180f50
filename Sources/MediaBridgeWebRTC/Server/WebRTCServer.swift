public import BridgeEngine
package import MediaBasics
internal import Synchronization

/// A server of WHEP and WHIP for one engine: browsers and players watch what the engine publishes, and those
/// who send to it are the users of its channel.
///
/// The engine that joins is the one user whose tracks are shared. Its video is encoded once, whoever watches;
/// each viewer has a ``PeerConnection``. Viewers are no users of the channel; senders are, with a main track
/// and audio as far as they send them. Messages come from both, under their names.
///
/// The server opens no port itself: `listen(on:)` of `MediaBridgeHTTP`, or another HTTP library, calls
/// ``respond(to:body:)``.
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
    /// - Parameter configuration: The settings. Default: no token, whoever reaches the server may watch and
    ///   send.
    public convenience init(_ configuration: Configuration = Configuration()) {
        self.init(configuration) { role, media, configuration, observer in
            PeerConnection(role, media, configuration: configuration, observer: observer)
        }
    }

    /// Creates a server with connections of another kind, and a clock of another kind.
    package init(
        _ configuration: Configuration, timeline: any Timeline = .system,
        makePeer: @escaping MakePeer
    ) {
        self.configuration = configuration
        self.makePeer = makePeer
        self.timeline = timeline
    }

    /// The stay of the engine that has joined.
    var channel: ServedChannel? { current.withLock { $0 } }

    /// Makes an engine the one that is served. The channel's name and the token of the request do not matter:
    /// whoever has the server may use it.
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

    /// The counts of the connections to the viewers, by their names.
    public var viewers: [UserID: PeerStatistics] { channel?.peers(.viewer) ?? [:] }

    /// The counts of the connections to those who send, by their names.
    public var senders: [UserID: PeerStatistics] { channel?.peers(.sender) ?? [:] }
}
