internal import FoundationEssentials
internal import Glibc
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import NIOWebSocket
internal import Synchronization

/// A WebSocket to a Janus server, in the subprotocol `janus-protocol`. Thread: any.
final class WebSocketConnection: Sendable {
    private let channel: any Channel

    private init(_ channel: any Channel) { self.channel = channel }

    /// `nil` if the server is not a Janus server.
    private typealias Upgrade = (any Channel)?

    /// Connects.
    ///
    /// - Parameters:
    ///   - caFile: A PEM file of the trusted authorities; `nil` for those of the system.
    ///   - onMessage: Called with the bytes of each message, in order, on a thread of the connection.
    ///   - onEnd: Called once when the connection is over, after the last message.
    static func open(
        _ address: ServerAddress, caFile: String?, _ limits: WebSocketLimits,
        onMessage: @escaping @Sendable ([UInt8]) -> Void,
        onEnd: @escaping @Sendable (JanusFailure) -> Void
    ) async throws(JanusFailure) -> WebSocketConnection {
        let tls = try address.isSecure ? context(caFile) : nil
        let opening = Opening()
        do {
            return try await withTaskCancellationHandler {
                let negotiation = try await ClientBootstrap(group: NetworkClient.group)
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
                                channel, address, tls, limits, opening, onMessage: onMessage,
                                onEnd: onEnd)
                        }
                    }
                guard let channel = try await negotiation.get() else {
                    throw JanusFailure(
                        .unreachable, "the server at \(address.authority) is not a Janus server")
                }
                let connection = WebSocketConnection(channel)
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
            throw failure(error, opening, address, limits)
        }
    }

    /// A channel whose connection is not established yet. It can be cancelled before the channel
    /// exists.
    private final class Opening: Sendable {
        private let state = Mutex<(channel: (any Channel)?, isCancelled: Bool)>((nil, false))
        /// Whether the deadline has passed.
        let isLate = Atomic(false)

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

    private static func configure(
        _ channel: any Channel, _ address: ServerAddress, _ tls: NIOSSLContext?,
        _ limits: WebSocketLimits, _ opening: Opening,
        onMessage: @escaping @Sendable ([UInt8]) -> Void,
        onEnd: @escaping @Sendable (JanusFailure) -> Void
    ) throws -> EventLoopFuture<Upgrade> {
        let pipeline = channel.pipeline.syncOperations
        if let tls {
            try pipeline.addHandler(NetworkClient.handler(tls, address.host))
        }
        let late = channel.eventLoop.scheduleTask(in: TimeAmount(limits.connecting)) {
            opening.isLate.store(true, ordering: .relaxed)
            channel.close(promise: nil)
        }
        let upgrader = NIOTypedWebSocketClientUpgrader<Upgrade>(
            maxFrameSize: limits.messageSize
        ) { channel, head in
            channel.eventLoop.makeCompletedFuture {
                late.cancel()
                guard head.headers["Sec-WebSocket-Protocol"] == ["janus-protocol"] else {
                    channel.close(promise: nil)
                    return nil
                }
                try channel.pipeline.syncOperations.addHandlers(
                    NIOWebSocketFrameAggregator(
                        minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: 4096,
                        maxAccumulatedFrameSize: limits.messageSize),
                    WebSocketHandler(limits, onMessage: onMessage, onEnd: onEnd))
                return channel
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
                        return channel.eventLoop.makeSucceededFuture(nil)
                    })))
        try pipeline.addHandler(ErrorCloser())
        return negotiation
    }

    private static func context(_ caFile: String?) throws(JanusFailure) -> NIOSSLContext {
        do throws(PipelineError) { return try NetworkClient.context(caFile) } catch {
            throw JanusFailure(.untrusted, error.message)
        }
    }

    private static func failure(
        _ error: any Error, _ opening: Opening, _ address: ServerAddress, _ limits: WebSocketLimits
    ) -> JanusFailure {
        if let failure = error as? JanusFailure { return failure }
        let place = address.authority
        if opening.isLate.load(ordering: .relaxed) {
            return JanusFailure(
                .deadlineExceeded, "\(place) did not answer within \(limits.connecting)")
        }
        if error is NIOSSLError || error is BoringSSLError {
            return JanusFailure(.untrusted, "cannot connect securely to \(place): \(error)")
        }
        if let connecting = error as? NIOConnectionError {
            return JanusFailure(
                .unreachable, "cannot reach \(place): \(NetworkClient.reason(connecting))")
        }
        return JanusFailure(.unreachable, "the server at \(place) is not a Janus server: \(error)")
    }

    /// Sends a message. If too many bytes are waiting, closes the connection instead.
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

/// The timeouts and size limits of a connection.
struct WebSocketLimits: Sendable {
    /// The timeout for connecting, from the first packet to the server's acceptance.
    var connecting = Duration.seconds(5)
    /// How long the server may be silent. The silence is noticed up to one ping interval later.
    var silence = Duration.milliseconds(2200)
    /// The number of pings in that time.
    var unansweredPings = 4
    /// The maximum size of a message from the server, in bytes.
    var messageSize = 1 << 20
    /// The maximum number of bytes that wait to be sent.
    var waitingBytes = 4 << 20

    var pingInterval: Duration { silence / unansweredPings }
}

// MARK: - Frames

/// The last handler of a channel's pipeline. It delivers whole messages, answers and sends pings,
/// and closes the channel if the server is silent or violates the protocol.
///
/// Thread: the channel's event loop.
private final class WebSocketHandler: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    private let limits: WebSocketLimits
    private let onMessage: @Sendable ([UInt8]) -> Void
    private let onEnd: @Sendable (JanusFailure) -> Void
    private var end: JanusFailure?
    private var isEndReported = false
    /// The number of pings since the server last sent anything. They are counted instead of timed:
    /// a thread that was not scheduled would mistake its own delay for the server's silence.
    private var unanswered = 0
    private var pings: RepeatedTask?

    /// - Parameters:
    ///   - onMessage: Called with the bytes of each message.
    ///   - onEnd: Called once, when the channel is closed.
    init(
        _ limits: WebSocketLimits, onMessage: @escaping @Sendable ([UInt8]) -> Void,
        onEnd: @escaping @Sendable (JanusFailure) -> Void
    ) {
        self.limits = limits
        self.onMessage = onMessage
        self.onEnd = onEnd
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let context = NIOLoopBound(context, eventLoop: context.eventLoop)
        let handler = NIOLoopBound(self, eventLoop: context.value.eventLoop)
        let interval = TimeAmount(limits.pingInterval)
        pings = context.value.eventLoop.scheduleRepeatedTask(
            initialDelay: interval, delay: interval
        ) { _ in
            handler.value.ping(context.value)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        pings?.cancel()
        pings = nil
        reportEnd(JanusFailure(.closed, "the connection to the Janus server was closed"))
    }

    func channelInactive(context: ChannelHandlerContext) {
        pings?.cancel()
        pings = nil
        reportEnd(JanusFailure(.closed, "the Janus server closed the connection"))
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        unanswered = 0
        let frame = unwrapInboundIn(data)
        switch frame.opcode {
        case .text, .binary:
            guard end == nil else { return }
            onMessage([UInt8](frame.unmaskedData.readableBytesView))
        case .ping:
            guard context.channel.isWritable else { return }
            send(.pong, frame.unmaskedData, context)
        case .connectionClose:
            send(.connectionClose, ByteBuffer(), context)
            close(context, JanusFailure(.closed, "the Janus server closed the connection"))
        default: break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        close(
            context,
            JanusFailure(.closed, "the Janus server violated the WebSocket protocol: \(error)"))
    }

    private func ping(_ context: ChannelHandlerContext) {
        guard unanswered < limits.unansweredPings else {
            return close(
                context,
                JanusFailure(
                    .deadlineExceeded,
                    "the Janus server has sent nothing for \(limits.silence)"))
        }
        unanswered += 1
        if context.channel.isWritable { send(.ping, ByteBuffer(), context) }
    }

    private func send(
        _ opcode: WebSocketOpcode, _ data: ByteBuffer, _ context: ChannelHandlerContext
    ) {
        let frame = WebSocketFrame(
            fin: true, opcode: opcode, maskKey: WebSocketMaskingKey.random(), data: data)
        context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
    }

    private func close(_ context: ChannelHandlerContext, _ failure: JanusFailure) {
        if end == nil { end = failure }
        context.close(promise: nil)
    }

    private func reportEnd(_ failure: JanusFailure) {
        guard !isEndReported else { return }
        isEndReported = true
        onEnd(end ?? failure)
    }
}

/// Closes a channel that reports an error before it becomes a WebSocket.
private final class ErrorCloser: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.fireErrorCaught(error)
        context.close(promise: nil)
    }
}

// MARK: - Address

/// Where a Janus server listens: `ws://HOST:PORT/PATH` or `wss://…`.
struct ServerAddress: Hashable, Sendable {
    let isSecure: Bool
    /// A name or an address, without the brackets of IPv6.
    let host: String
    let port: Int
    /// With its leading slash, and the query if there is one.
    let path: String

    /// - Returns: `nil` if the text is not a WebSocket address.
    init?(_ text: String) {
        guard let url = URLComponents(string: text, encodingInvalidCharacters: false),
            let scheme = url.scheme?.lowercased(), ["ws", "wss"].contains(scheme),
            let host = url.percentEncodedHost, !host.isEmpty, url.user == nil,
            // A colon without a port.
            text.split(separator: "/").dropFirst().first?.last != ":"
        else { return nil }
        isSecure = scheme == "wss"
        self.host = host.first == "[" ? String(host.dropFirst().dropLast()) : host
        port = url.port ?? (isSecure ? 443 : 80)
        path =
            (url.percentEncodedPath.isEmpty ? "/" : url.percentEncodedPath)
            + (url.percentEncodedQuery.map { "?\($0)" } ?? "")
        guard (1...65535).contains(port) else { return nil }
    }

    /// Host and port, as in the header `Host`.
    var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }
}
