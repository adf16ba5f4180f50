internal import Foundation
internal import HTTPTypes
internal import MediaBasics
internal import Synchronization

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// One HTTP request over its own `URLSession`. With one session for all requests, the request that
/// follows a redirect got no answer in one of two runs under load. Redirects are not followed,
/// nothing is cached or stored, and both the time and the length of a reply are limited.
///
/// Thread: any.
final class HTTPExchange: NSObject, URLSessionDataDelegate, Sendable {
    /// The reply to a request.
    struct Reply: Sendable {
        let response: HTTPResponse
        let body: [UInt8]
    }

    /// The maximum length of a reply's body, in bytes.
    static let maximumLength = 256 * 1024

    private struct State {
        var response: HTTPURLResponse?
        var body: [UInt8] = []
        var continuation: CheckedContinuation<Result<Reply, PeerError>, Never>?
        var isOver = false
    }
    private let state = Mutex(State())
    /// The scheme, host and port.
    private let server: String

    private init(to server: String) { self.server = server }

    /// Sends a request and waits for the reply.
    ///
    /// - Parameter timeout: The timeout for the whole exchange.
    static func send(
        _ method: HTTPRequest.Method, _ url: URL, _ fields: HTTPFields, body: [UInt8],
        within timeout: Duration
    ) async throws(PeerError) -> Reply {
        var request = URLRequest(url: url)
        request.httpMethod = method.rawValue
        request.httpShouldHandleCookies = false
        request.timeoutInterval = max(1, timeout / .seconds(1))
        for field in fields {
            request.addValue(field.value, forHTTPHeaderField: field.name.rawName)
        }
        if !body.isEmpty { request.httpBody = Data(body) }
        let exchange = HTTPExchange(to: Origin.text(of: url))
        let session = URLSession(
            configuration: configuration, delegate: exchange, delegateQueue: nil)
        let task = session.dataTask(with: request)
        let abandon: @Sendable (PeerError) -> Void = { error in
            exchange.end(error)
            task.cancel()
        }
        let timer = OneShotTimer(after: max(.zero, timeout)) {
            abandon(
                PeerError(
                    .deadlineExceeded,
                    message: "\(exchange.server) did not answer within \(timeout.inSeconds) s",
                    advice: "check the address, and that a server listens there"))
        }
        let result = await withTaskCancellationHandler {
            await exchange.reply { task.resume() }
        } onCancel: {
            abandon(cancelled)
        }
        timer.cancel()
        session.finishTasksAndInvalidate()
        return try result.get()
    }

    private static var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        return configuration
    }

    private static let cancelled = PeerError(.closed, message: "the request was cancelled")

    /// Waits for the reply.
    private func reply(_ begin: () -> Void) async -> Result<Reply, PeerError> {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if !state.isOver { state.continuation = continuation }
                return state.isOver
            }
            guard !isOver else {
                return continuation.resume(returning: .failure(Self.cancelled))
            }
            begin()
        }
    }

    /// Ends the exchange with the reply received so far, or with an error. Only the first call has
    /// an effect.
    private func end(_ failure: PeerError?) {
        let (continuation, result) = state.withLock { state in
            state.isOver = true
            let result: Result<Reply, PeerError>
            if let failure {
                result = .failure(failure)
            } else if let response = state.response {
                result = .success(Reply(response: Self.translate(response), body: state.body))
            } else {
                result = .failure(PeerError(.unreachable, message: "\(server) did not answer"))
            }
            return (state.continuation.take(), result)
        }
        continuation?.resume(returning: result)
    }

    private static func translate(_ response: HTTPURLResponse) -> HTTPResponse {
        var fields = HTTPFields()
        for (name, value) in response.allHeaderFields {
            guard let name = HTTPField.Name("\(name)") else { continue }
            fields.append(HTTPField(name: name, value: "\(value)"))
        }
        let status = min(max(response.statusCode, 100), 599)
        return HTTPResponse(status: HTTPResponse.Status(code: status), headerFields: fields)
    }

    // MARK: URLSessionDataDelegate

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // The session would forward the token, and might turn a POST into a GET. The handler is not
        // called: Foundation ends the process if the task was cancelled in the meantime, as at the
        // deadline.
        state.withLock { $0.response = response }
        end(nil)
        task.cancel()
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if let response = response as? HTTPURLResponse {
            state.withLock { $0.response = response }
        }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooLong = state.withLock { state in
            guard state.body.count + data.count <= Self.maximumLength else { return true }
            state.body.append(contentsOf: data)
            return false
        }
        guard isTooLong else { return }
        end(
            PeerError(
                .refused,
                message: "the answer of \(server) exceeds \(Self.maximumLength / 1024) KiB",
                advice: "the URL of a WHIP or WHEP endpoint"))
        dataTask.cancel()
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        end(error.map { PeerError($0, at: server) })
    }
}

extension Duration {
    fileprivate var inSeconds: String {
        let tenths = Int((self / .seconds(1) * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}

// MARK: - Errors

extension PeerError {
    /// The error for a reply that is not a success: its status, and the first line of its text.
    static func refusal(
        _ reply: HTTPExchange.Reply, by url: URL, sentToken: Bool
    ) -> PeerError {
        let status = reply.response.status.code
        let (code, advice) = meaning(of: status, sentToken: sentToken)
        let line = firstLine(of: reply)
        return PeerError(
            code,
            message: "\(Origin.text(of: url)) refused with status \(status)"
                + (line.isEmpty ? "" : ": \(line)"),
            advice: advice)
    }

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
        let type = MediaType(reply.response.headerFields[.contentType])
        guard type?.name != "text/html", type != .sdp else { return "" }
        let text = String(decoding: reply.body.prefix(2000), as: UTF8.self)
        let line = text.split(whereSeparator: \.isNewline).first ?? ""
        return line.trimmingCharacters(in: .whitespaces).printablePrefix
    }

    /// The error for a request that got no reply.
    ///
    /// - Parameters:
    ///   - error: An error of `URLSession`. It names the URL, query included, and is not passed on.
    ///   - server: The scheme, host and port.
    init(_ error: any Error, at server: String) {
        let code = (error as? URLError)?.code
        let text = Self.textOfCurl(error)
        if Self.isCertificate(code) || text?.contains("certificate") == true {
            self.init(
                .unreachable,
                message: "the certificate of \(server) is not trusted"
                    + (text.map { ": \($0)" } ?? ""),
                advice: "add its authority to the system with update-ca-certificates")
        } else {
            self.init(
                code == .timedOut ? .deadlineExceeded : .unreachable,
                message: "cannot reach \(server): \(text ?? Self.reason(of: code))",
                advice: "check the address, and that a server listens there")
        }
    }

    private static func isCertificate(_ code: URLError.Code?) -> Bool {
        switch code {
        case .secureConnectionFailed, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot, .serverCertificateHasBadDate,
            .serverCertificateNotYetValid:
            true
        default: false
        }
    }

    /// The text of curl for an error without a code of `URLSession`, such as a rejected certificate. `nil` if
    /// there is a code, or if the text may contain a URL.
    private static func textOfCurl(_ error: any Error) -> String? {
        guard (error as? URLError)?.code == .unknown else { return nil }
        let text = error.localizedDescription
        return text.isEmpty || text.contains("/") || text.contains("?") ? nil : text.printablePrefix
    }

    private static func reason(of code: URLError.Code?) -> String {
        switch code {
        case .cannotConnectToHost: "connection refused"
        case .cannotFindHost, .dnsLookupFailed: "host not found"
        case .timedOut: "timed out"
        case .networkConnectionLost: "the connection was lost"
        case .badServerResponse: "the answer is not HTTP"
        case let code?: "URLSession error \(code.rawValue)"
        case nil: "the connection failed"
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

/// The type of a body, without its parameters.
struct MediaType: Hashable {
    /// In lower case: `application/sdp`.
    let name: String

    static let sdp = MediaType(name: "application/sdp")
    static let trickle = MediaType(name: "application/trickle-ice-sdpfrag")

    private init(name: String) { self.name = name }

    /// - Parameter field: The value of `Content-Type`.
    /// - Returns: `nil` if there is none.
    init?(_ field: String?) {
        guard let field else { return nil }
        let name = field.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
        guard !name.isEmpty else { return nil }
        self.name = name
    }
}
