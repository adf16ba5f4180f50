internal import FoundationEssentials
internal import HTTPTypes
internal import MediaBasics
internal import MediaBridge
internal import NIOCore
internal import NIOHTTP1
package import NIOPosix
package import NIOSSL
internal import Synchronization

/// One HTTP request over its own connection. Redirects are not followed, and both the time and the
/// length of a reply are limited.
///
/// Thread: any.
enum HTTPExchange {
    /// The reply to a request.
    typealias Reply = (response: HTTPResponse, body: [UInt8])

    /// The maximum length of a reply's body, in bytes.
    static let maximumLength = 256 * 1024

    /// Sends a request and waits for the reply.
    ///
    /// - Parameter timeout: The timeout for the whole exchange.
    static func send(
        _ method: HTTPRequest.Method, _ url: URL, _ fields: HTTPFields, body: [UInt8],
        within timeout: Duration
    ) async throws(PipelineError) -> Reply {
        guard let origin = Origin(of: url) else {
            throw PipelineError(.badValue, message: "no URL of an HTTP server")
        }
        let request = Request(method, url, fields, body: body, to: origin)
        let tls = try origin.scheme == "https" ? NetworkClient.context() : nil
        let result = Once<Result<Reply, PipelineError>>()
        result.expire(after: max(.zero, timeout))
        let connecting = ClientBootstrap(group: NetworkClient.group)
            .connectTimeout(TimeAmount(timeout))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls { try pipeline.addHandler(NetworkClient.handler(tls, origin.host)) }
                    try pipeline.addHTTPClientHandlers()
                    try pipeline.addHandler(ReplyReader(request, origin, result))
                }
            }
            .connect(host: origin.host, port: origin.port)
        connecting.whenFailure { result.resume(.failure(PipelineError($0, at: origin))) }
        // Also a connection that is established later.
        defer { connecting.whenSuccess { $0.close(promise: nil) } }
        if let result = await result.value(isCancellable: true) { return try result.get() }
        throw Task.isCancelled
            ? PipelineError(.closed, message: "the request was cancelled")
            : PipelineError(
                .deadlineExceeded,
                message: "\(origin) did not answer within \(timeout.inSeconds) s",
                advice: "check the address, and that a server listens there")
    }

    /// The head and the body of a request.
    struct Request: Sendable {
        let head: HTTPRequestHead
        let body: [UInt8]

        init(
            _ method: HTTPRequest.Method, _ url: URL, _ fields: HTTPFields, body: [UInt8],
            to origin: Origin
        ) {
            var headers = HTTPHeaders([("Host", origin.authority), ("Connection", "close")])
            if method == .post || !body.isEmpty {
                headers.add(name: "Content-Length", value: "\(body.count)")
            }
            for field in fields { headers.add(name: field.name.rawName, value: field.value) }
            let parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
            let path = parts?.percentEncodedPath ?? ""
            let query = parts?.percentEncodedQuery.map { "?\($0)" } ?? ""
            head = HTTPRequestHead(
                version: .http1_1, method: HTTPMethod(rawValue: method.rawValue),
                uri: (path.isEmpty ? "/" : path) + query, headers: headers)
            self.body = body
        }
    }
}

/// Sends a request once the connection is established, and reads the reply. Thread: the channel's event loop.
private final class ReplyReader: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let request: HTTPExchange.Request
    private let origin: Origin
    private let result: Once<Result<HTTPExchange.Reply, PipelineError>>
    private var response: HTTPResponse?
    private var body: [UInt8] = []

    init(
        _ request: HTTPExchange.Request, _ origin: Origin,
        _ result: Once<Result<HTTPExchange.Reply, PipelineError>>
    ) {
        (self.request, self.origin, self.result) = (request, origin, result)
    }

    func channelActive(context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(.head(request.head)), promise: nil)
        if !request.body.isEmpty {
            let body = context.channel.allocator.buffer(bytes: request.body)
            context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            var fields = HTTPFields()
            for (name, value) in head.headers {
                guard let name = HTTPField.Name(name) else { continue }
                fields.append(HTTPField(name: name, value: value))
            }
            let status = min(max(Int(head.status.code), 100), 599)
            response = HTTPResponse(
                status: HTTPResponse.Status(code: status), headerFields: fields)
            // Only the target of a redirect is of interest.
            if (300..<400).contains(status) { end(context) }
        case .body(let bytes):
            guard body.count + bytes.readableBytes <= HTTPExchange.maximumLength else {
                return fail(
                    context,
                    PipelineError(
                        .refused,
                        message: "the answer of \(origin) exceeds "
                            + "\(HTTPExchange.maximumLength / 1024) KiB",
                        advice: "the URL of a WHIP or WHEP endpoint"))
            }
            body += bytes.readableBytesView
        case .end: end(context)
        }
    }

    private func end(_ context: ChannelHandlerContext) {
        if let response { result.resume(.success((response, body))) }
        context.close(promise: nil)
    }

    private func fail(_ context: ChannelHandlerContext, _ error: PipelineError) {
        result.resume(.failure(error))
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        result.resume(
            .failure(PipelineError(.unreachable, message: "\(origin) did not answer")))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        fail(context, PipelineError(error, at: origin))
    }
}

extension Duration {
    fileprivate var inSeconds: String {
        let tenths = Int((self / .seconds(1) * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}

// MARK: - Connections

/// What all clients of servers share: WHIP, WHEP and Janus.
package enum NetworkClient {
    /// One thread for all connections of the process.
    package static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    /// Returns the trusted authorities.
    ///
    /// - Parameter caFile: A PEM file; `nil` for those of the system.
    package static func context(_ caFile: String? = nil) throws(PipelineError) -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        if let caFile { configuration.trustRoots = .file(caFile) }
        do { return try NIOSSLContext(configuration: configuration) } catch {
            throw PipelineError(
                .unreachable,
                message: "the certificates of \(caFile ?? "the system") cannot be read: \(error)",
                advice: caFile == nil ? "apt install ca-certificates" : "a PEM file")
        }
    }

    /// Returns the handler that encrypts a connection, and checks that the server is the host.
    package static func handler(
        _ context: NIOSSLContext, _ host: String
    ) throws -> NIOSSLClientHandler {
        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
        return try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : host)
    }

    /// Returns why a connection could not be established.
    package static func reason(_ error: NIOConnectionError) -> String {
        guard let first = error.connectionErrors.first?.error else { return "host not found" }
        return (first as? IOError).map { systemErrorText($0.errnoCode) } ?? "\(first)"
    }
}

// MARK: - Errors

extension PipelineError {
    /// The error for a reply that is not a success: its status, and the first line of its text.
    static func refusal(
        _ reply: HTTPExchange.Reply, by url: URL, sentToken: Bool
    ) -> PipelineError {
        let status = reply.response.status.code
        let (code, advice) = meaning(of: status, sentToken: sentToken)
        let line = firstLine(of: reply)
        var error = PipelineError(
            code,
            message: "\(Origin.text(of: url)) refused with status \(status)"
                + (line.isEmpty ? "" : ": \(line)"),
            advice: advice)
        // The header's other form, a date, depends on two clocks, and is not used.
        error.retryAfter = reply.response.headerFields[.retryAfter].flatMap { Int($0) }
            .map { min(max(.zero, .seconds($0)), longestRetryDelay) }
        return error
    }

    /// A server cannot make a client wait longer.
    private static let longestRetryDelay = Duration.seconds(300)

    private static func meaning(of status: Int, sentToken: Bool) -> (Code, String?) {
        switch status {
        case 401, 403:
            (.unauthorized, sentToken ? "another token; the server refused this one" : "a token")
        case 404, 410: (.refused, "the URL of the endpoint, or a session that has not ended")
        case 405, 501: (.refused, "the URL of a WHIP or WHEP endpoint")
        case 406: (.nothingInCommon, "another codec")
        case 409, 429, 503: (.busy, "again later")
        case 300..<400: (.refused, "the URL to which it redirects")
        default: (.refused, nil)
        }
    }

    /// The first line of a text, printable and at most 200 characters long; empty for a page.
    private static func firstLine(of reply: HTTPExchange.Reply) -> String {
        guard !["text/html", MediaType.sdp].contains(reply.response.headerFields.mediaType)
        else { return "" }
        let text = String(decoding: reply.body.prefix(2000), as: UTF8.self)
        let line = text.split(whereSeparator: \.isNewline).first ?? ""
        return line.trimmingCharacters(in: .whitespaces).printablePrefix
    }

    /// The error for a request that got no reply.
    init(_ error: any Error, at origin: Origin) {
        switch error {
        case let error as NIOConnectionError:
            self.init(
                .unreachable, message: "cannot reach \(origin): \(NetworkClient.reason(error))",
                advice: "check the address, and that a server listens there")
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
            // The library does not say more about a certificate than its code.
            let text = "\(error)"
            let code =
                text.firstMatch(of: /OPENSSL_internal:([A-Z0-9_]+)/).map { String($0.1) }
                ?? text.printablePrefix
            let isOfCertificate =
                code == "CERTIFICATE_VERIFY_FAILED" || text.contains("failedToValidateHostname")
            self.init(
                .unreachable,
                message: isOfCertificate
                    ? "the certificate of \(origin) is not trusted: \(code)"
                    : "\(origin) accepts no secure connection: \(code)",
                advice: isOfCertificate
                    ? "add its authority to the system with update-ca-certificates, and check its "
                        + "name and its dates" : "check that the server speaks TLS")
        case is HTTPParserError:
            self.init(
                .unreachable, message: "the answer of \(origin) is not HTTP, or is cut off",
                advice: "check the address, and that a server listens there")
        default:
            self.init(
                .unreachable,
                message: "the connection to \(origin) failed: \("\(error)".printablePrefix)",
                advice: "check the address, and that a server listens there")
        }
    }
}

extension StringProtocol {
    /// At most 200 characters of the text, in which control characters are replaced.
    var printablePrefix: String {
        String(
            String.UnicodeScalarView(
                self.prefix(200).unicodeScalars.map { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .format, .lineSeparator, .paragraphSeparator: "\u{FFFD}"
                    default: scalar
                    }
                }))
    }
}

// MARK: - Header fields

/// The types of bodies in requests and replies.
enum MediaType {
    static let sdp = "application/sdp"
    static let trickle = "application/trickle-ice-sdpfrag"
}

extension HTTPFields {
    /// The type of the body in lower case, without its parameters; empty if there is none.
    var mediaType: String {
        (self[.contentType] ?? "").prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }
            .lowercased()
    }
}
