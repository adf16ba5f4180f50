internal import Glibc
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import NIOWebSocket
internal import Synchronization

/// A WebSocket to a Janus server, in the subprotocol `janus-protocol`. Thread: any.
final class WebSocketConnection: Sendable {
    /// One thread for all connections of the process.
    private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    private let channel: any Channel
    private let limits: WebSocketLimits

    private init(_ channel: any Channel, _ limits: WebSocketLimits) {
        self.channel = channel
        self.limits = limits
    }

    private enum Upgrade: Sendable {
        case webSocket(any Channel)
        case refused
    }

    /// Connects.
    ///
    /// - Parameters:
    ///   - caFile: A PEM file of the authorities that are trusted; `nil` for those of the system.
    ///   - onMessage: Called with the bytes of each message, in order, on a thread of the connection.
    ///   - onEnd: Called once when the connection is over, after the last message.
    static func open(
        _ address: ServerAddress, caFile: String?, _ limits: WebSocketLimits,
        onMessage: @escaping @Sendable ([UInt8]) -> Void,
        onEnd: @escaping @Sendable (JanusFailure) -> Void
    ) async throws(JanusFailure) -> WebSocketConnection {
        let tls = try address.isSecure ? context(caFile) : nil
        let opening = Opening()
        let reason = Reason()
        do {
            return try await withTaskCancellationHandler {
                let negotiation = try await ClientBootstrap(group: group)
                    .connectTimeout(TimeAmount(limits.connecting))
                    .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                    .channelOption(
                        .writeBufferWaterMark,
                        value: .init(low: limits.waitingBytes / 4, high: limits.waitingBytes)
                    )
                    .connect(host: address.host, port: address.port) { channel in
                        opening.begin(channel)
                        return channel.eventLoop.makeCompletedFuture {
                            try configure(
                                channel, address, tls, limits, reason, onMessage: onMessage,
                                onEnd: onEnd)
                        }
                    }
                guard case .webSocket(let channel) = try await negotiation.get() else {
                    throw JanusFailure(
                        .unreachable, "the server at \(address.authority) is not a Janus server")
                }
                let connection = WebSocketConnection(channel, limits)
                guard !Task.isCancelled else {
                    connection.close()
                    throw JanusFailure(.cancelled, "connecting was cancelled")
                }
                return connection
            } onCancel: {
                opening.cancel()
            }
        } catch {
            opening.cancel()
            if Task.isCancelled { throw JanusFailure(.cancelled, "connecting was cancelled") }
            throw failure(error, reason, address, limits)
        }
    }

    /// A channel that is to become a connection, and may be closed before it is known.
    private final class Opening: Sendable {
        private let state = Mutex<(channel: (any Channel)?, isCancelled: Bool)>((nil, false))

        func begin(_ channel: any Channel) {
            let isCancelled = state.withLock { state in
                state.channel = channel
                return state.isCancelled
            }
            if isCancelled { channel.close(promise: nil) }
        }

        func cancel() {
            let channel = state.withLock { state in
                state.isCancelled = true
                return state.channel
            }
            channel?.close(promise: nil)
        }
    }

    /// What ended a connection before it was one.
    private final class Reason: Sendable {
        let isLate = Atomic(false)
    }

    private static func configure(
        _ channel: any Channel, _ address: ServerAddress, _ tls: NIOSSLContext?,
        _ limits: WebSocketLimits, _ reason: Reason,
        onMessage: @escaping @Sendable ([UInt8]) -> Void,
        onEnd: @escaping @Sendable (JanusFailure) -> Void
    ) throws -> EventLoopFuture<Upgrade> {
        let pipeline = channel.pipeline.syncOperations
        if let tls {
            let isAddress = (try? SocketAddress(ipAddress: address.host, port: 0)) != nil
            try pipeline.addHandler(
                NIOSSLClientHandler(
                    context: tls, serverHostname: isAddress ? nil : address.host))
        }
        let late = channel.eventLoop.scheduleTask(in: TimeAmount(limits.connecting)) {
            reason.isLate.store(true, ordering: .relaxed)
            channel.close(promise: nil)
        }
        let upgrader = NIOTypedWebSocketClientUpgrader<Upgrade>(
            maxFrameSize: limits.messageSize
        ) { channel, head in
            channel.eventLoop.makeCompletedFuture {
                late.cancel()
                guard head.headers["Sec-WebSocket-Protocol"] == ["janus-protocol"] else {
                    channel.close(promise: nil)
                    return .refused
                }
                try channel.pipeline.syncOperations.addHandlers(
                    NIOWebSocketFrameAggregator(
                        minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: 4096,
                        maxAccumulatedFrameSize: limits.messageSize),
                    WebSocketHandler(limits, onMessage: onMessage, onEnd: onEnd))
                return .webSocket(channel)
            }
        }
        let headers: HTTPHeaders = [
            "Host": address.authority, "Sec-WebSocket-Protocol": "janus-protocol",
        ]
        let negotiation = try pipeline.configureUpgradableHTTPClientPipeline(
            configuration: .init(
                upgradeConfiguration: NIOTypedHTTPClientUpgradeConfiguration(
                    upgradeRequestHead: HTTPRequestHead(
                        version: .http1_1, method: .GET, uri: address.path, headers: headers),
                    upgraders: [upgrader],
                    notUpgradingCompletionHandler: { channel in
                        late.cancel()
                        channel.close(promise: nil)
                        return channel.eventLoop.makeSucceededFuture(.refused)
                    })))
        try pipeline.addHandler(ErrorCloser())
        return negotiation
    }

    private static func context(_ caFile: String?) throws(JanusFailure) -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        if let caFile { configuration.trustRoots = .file(caFile) }
        do { return try NIOSSLContext(configuration: configuration) } catch {
            throw JanusFailure(
                .untrusted,
                "the certificates of \(caFile ?? "the system") cannot be read: \(error)")
        }
    }

    private static func failure(
        _ error: any Error, _ reason: Reason, _ address: ServerAddress, _ limits: WebSocketLimits
    ) -> JanusFailure {
        if let failure = error as? JanusFailure { return failure }
        let place = address.authority
        if reason.isLate.load(ordering: .relaxed) {
            return JanusFailure(
                .deadlineExceeded, "\(place) did not answer within \(limits.connecting)")
        }
        if error is NIOSSLError || error is BoringSSLError {
            return JanusFailure(.untrusted, "cannot connect securely to \(place): \(error)")
        }
        if let connecting = error as? NIOConnectionError {
            let why =
                connecting.connectionErrors.first.map { explain($0.error) } ?? "host not found"
            return JanusFailure(.unreachable, "cannot reach \(place): \(why)")
        }
        return JanusFailure(.unreachable, "the server at \(place) is not a Janus server: \(error)")
    }

    private static func explain(_ error: any Error) -> String {
        guard let error = error as? IOError else { return "\(error)" }
        return String(cString: strerror(error.errnoCode))
    }

    /// Sends a message. A connection that takes no more is closed.
    func send(_ bytes: [UInt8]) {
        guard channel.isWritable else { return close() }
        let frame = WebSocketFrame(
            fin: true, opcode: .text, maskKey: WebSocketMaskingKey.random(),
            data: ByteBuffer(bytes: bytes))
        channel.writeAndFlush(frame, promise: nil)
    }

    /// Closes the connection. A second call does nothing.
    func close() { channel.close(promise: nil) }

    deinit { channel.close(promise: nil) }
}

/// What a connection waits for, and how much it takes.
struct WebSocketLimits: Sendable {
    /// How long connecting may take, from the first packet to the server's consent.
    var connecting = Duration.seconds(5)
    /// How long nothing may come from the server; noticed an interval of pings later at most.
    var silence = Duration.milliseconds(2200)
    /// How often the server is asked in that time whether it is there.
    var unansweredPings = 4
    /// The most bytes of a message from the server.
    var messageSize = 1 << 20
    /// The most bytes that wait to be sent.
    var waitingBytes = 4 << 20

    /// The time between two questions.
    var pingInterval: Duration { silence / unansweredPings }
}

extension TimeAmount {
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self = .nanoseconds(
            min(max(0, seconds), 1_000_000) * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
