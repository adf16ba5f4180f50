internal import HTTPTypes
internal import MediaBasics
internal import MediaBridgeWebRTC
internal import NIOCore
internal import NIOHTTP1

/// Reads the requests of one connection and writes the responses, one at a time.
///
/// Each step has a timeout: idle, partial and unread connections time out. A body that is too long
/// is answered before its end, and the rest is discarded. A client that sends requests without reading
/// the responses is disconnected.
final class HTTPConversation: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private enum Phase {
        case waiting
        case reading(HTTPRequestHead)
        /// Waiting for the response to be computed.
        case answering
        /// The last response is being written, or has been written. Further input is discarded.
        case ending

        /// Whether the server waits for the client, or for nothing. Includes the reading of a body: slow
        /// bodies must not keep others out.
        var isIdle: Bool {
            switch self {
            case .waiting, .reading, .ending: true
            case .answering: false
            }
        }
    }
    private var phase = Phase.waiting {
        didSet {
            let (was, isNow) = (oldValue.isIdle, phase.isIdle)
            if was != isNow { onIdle(isNow) }
        }
    }
    /// The body of the current request, as far as received.
    private var body: [UInt8] = []
    private var deadline: Scheduled<Void>?
    /// Completed when the latest response has been written.
    private var written: EventLoopFuture<Void>?
    private var isInputClosed = false
    private let refusal: HTTPListener.Refusal
    private let answer: HTTPListener.Answer
    /// Called when the connection becomes idle or busy. A new connection is idle.
    private let onIdle: (Bool) -> Void
    /// Accepts WebSocket requests. The HTTP handlers are removed from a connection that it takes
    /// over.
    private let relay: (relay: WebSocketRelay, http: [any RemovableChannelHandler])?

    /// The timeout for the head of the first request.
    private static let firstHead = TimeAmount.seconds(10)
    /// The timeout for the head of each further request.
    private static let nextHead = TimeAmount.seconds(60)
    /// The timeout for each of these steps: reading a body, computing a response, sending it to the
    /// client. The answer to an offer takes less than a second, and up to five while it waits for
    /// the first frame.
    private static let step = TimeAmount.seconds(15 * Int64(DeadlineFactor.value))
    /// How long the rest of a body is read, so that the client can read the response before the
    /// connection closes.
    private static let lingering = TimeAmount.seconds(2)
    private static let maximumBody = WebRTCServer.maximumBodyLength

    init(
        relay: (relay: WebSocketRelay, http: [any RemovableChannelHandler])?,
        refusal: @escaping HTTPListener.Refusal, _ answer: @escaping HTTPListener.Answer,
        onIdle: @escaping (Bool) -> Void
    ) {
        self.relay = relay
        self.refusal = refusal
        self.answer = answer
        self.onIdle = onIdle
    }

    // MARK: ChannelInboundHandler

    func channelActive(context: ChannelHandlerContext) {
        close(context, after: Self.firstHead)
        context.fireChannelActive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }

    func channelInactive(context: ChannelHandlerContext) {
        deadline?.cancel()
        phase = .ending
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch (unwrapInboundIn(data), phase) {
        case (.head(let head), .waiting): begin(head, context)
        case (.body(let bytes), .reading):
            // One byte over the limit is enough to detect a body that is too long.
            body.append(
                contentsOf: bytes.readableBytesView.prefix(Self.maximumBody + 1 - body.count))
            if body.count > Self.maximumBody { finish(context, isComplete: false) }
        case (.end, .reading): finish(context, isComplete: true)
        default: break
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event {
            isInputClosed = true
            switch phase {
            case .waiting: end(context)
            case .reading, .ending: context.close(promise: nil)
            case .answering: break
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    // MARK: Steps

    private func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        // A proxy in front may take another one of several hosts for the right one (RFC 9112, section 3.2).
        let hosts = head.headers["Host"].count
        guard hosts == 1 || hosts == 0 && head.version.minor == 0 else {
            phase = .answering
            return write(HTTPResponse(status: .badRequest), [], to: head, isKept: false, context)
        }
        if let relay, relay.relay.takes(head) {
            return pass(head, to: relay.relay, relay.http, context)
        }
        (phase, body) = (.reading(head), [])
        onIdle(true)
        close(context, after: Self.step)
        let hasBody =
            head.headers.contains(name: "Transfer-Encoding")
            || head.headers.first(name: "Content-Length").map { $0 != "0" } ?? false
        if hasBody, let request = Self.request(head), let (response, bytes) = refusal(request) {
            phase = .answering
            return write(response, bytes, to: head, isKept: false, context)
        }
        let length = head.headers.first(name: "Content-Length").flatMap { Int($0) } ?? 0
        if length > Self.maximumBody {
            body = [UInt8](repeating: 0, count: Self.maximumBody + 1)
            finish(context, isComplete: false)
        } else if head.headers[canonicalForm: "Expect"]
            .contains(where: { $0.lowercased() == "100-continue" })
        {
            let go = HTTPResponseHead(version: head.version, status: .continue)
            context.writeAndFlush(wrapOutboundOut(.head(go)), promise: nil)
        }
    }

    /// Hands the connection over to the relay.
    private func pass(
        _ head: HTTPRequestHead, to relay: WebSocketRelay, _ http: [any RemovableChannelHandler],
        _ context: ChannelHandlerContext
    ) {
        phase = .answering
        close(context, after: Self.step)
        relay.pass(head, of: context.channel, http + [self]).assumeIsolated().whenFailure {
            [self] _ in
            write(HTTPResponse(status: .badGateway), [], to: head, isKept: false, context)
        }
    }

    /// Requests the response to a request that has been read.
    ///
    /// - Parameter isComplete: Whether the whole body has been read.
    private func finish(_ context: ChannelHandlerContext, isComplete: Bool) {
        guard case .reading(let head) = phase else { return }
        guard context.channel.isWritable else { return context.close(promise: nil) }
        let body = self.body
        (phase, self.body) = (.answering, [])
        let isKept = isComplete && head.isKeepAlive
        guard let request = Self.request(head) else {
            return write(HTTPResponse(status: .badRequest), [], to: head, isKept: false, context)
        }
        let promise = context.eventLoop.makePromise(of: (HTTPResponse, [UInt8]).self)
        promise.completeWithTask { [answer] in await answer(request, body) }
        promise.futureResult.assumeIsolated().whenSuccess { [self] response, bytes in
            // The response may arrive too late.
            guard case .answering = phase else { return }
            write(response, bytes, to: head, isKept: isKept, context)
        }
        schedule(context, after: Self.step) { [self] in
            write(HTTPResponse(status: .serviceUnavailable), [], to: head, isKept: false, context)
        }
    }

    private func write(
        _ response: HTTPResponse, _ bytes: [UInt8], to request: HTTPRequestHead, isKept: Bool,
        _ context: ChannelHandlerContext
    ) {
        var head = HTTPResponseHead(
            version: request.version,
            status: .init(
                statusCode: response.status.code, reasonPhrase: response.status.reasonPhrase))
        for field in response.headerFields {
            head.headers.add(name: field.name.rawName, value: field.value)
        }
        let isKept = isKept && !isInputClosed
        // The response to HEAD has the length that the response to GET would have.
        if request.method != .HEAD || !head.headers.contains(name: "Content-Length") {
            head.headers.replaceOrAdd(name: "Content-Length", value: "\(bytes.count)")
        }
        head.headers.replaceOrAdd(name: "Connection", value: isKept ? "keep-alive" : "close")
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if request.method != .HEAD {
            context.write(
                wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: bytes)))), promise: nil)
        }
        let promise = context.eventLoop.makePromise(of: Void.self)
        written = promise.futureResult
        // Set first, because the next request is read as soon as the end is written.
        phase = isKept ? .waiting : .ending
        close(context, after: isKept ? Self.nextHead : Self.step)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: promise)
        if !isKept { end(context) }
    }

    /// Closes the connection after the latest response.
    private func end(_ context: ChannelHandlerContext) {
        phase = .ending
        let written = written ?? context.eventLoop.makeSucceededVoidFuture()
        written.assumeIsolated().whenComplete { [self] result in
            guard case .success = result, !isInputClosed else {
                return context.close(promise: nil)
            }
            context.close(mode: .output, promise: nil)
            close(context, after: Self.lingering)
        }
    }

    /// Closes the connection unless the next step is reached in time.
    private func close(_ context: ChannelHandlerContext, after limit: TimeAmount) {
        schedule(context, after: limit) { context.close(promise: nil) }
    }

    /// Sets the action for the timeout of the current step.
    private func schedule(
        _ context: ChannelHandlerContext, after limit: TimeAmount, _ body: @escaping () -> Void
    ) {
        deadline?.cancel()
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: limit, body)
    }

    static func request(_ head: HTTPRequestHead) -> HTTPRequest? {
        guard let method = HTTPRequest.Method(head.method.rawValue) else { return nil }
        var fields = HTTPFields()
        for (name, value) in head.headers where name.lowercased() != "host" {
            guard let name = HTTPField.Name(name) else { continue }
            fields.append(HTTPField(name: name, value: value))
        }
        let (authority, path) = target(head)
        return HTTPRequest(
            method: method, scheme: "http", authority: authority, path: path, headerFields: fields)
    }

    /// Returns the authority and the path of a request. A target in absolute form has its own
    /// authority, which replaces the `Host` field (RFC 9112, section 3.2.2).
    private static func target(_ head: HTTPRequestHead) -> (authority: String?, path: String) {
        let schemes = ["http://", "https://"]
        guard let scheme = schemes.first(where: { head.uri.lowercased().hasPrefix($0) }) else {
            return (head.headers.first(name: "Host"), head.uri)
        }
        let rest = head.uri.dropFirst(scheme.count)
        let authority = rest.prefix { !"/?#".contains($0) }
        let path = rest.dropFirst(authority.count)
        return (String(authority), path.first == "/" ? String(path) : "/" + path)
    }
}
