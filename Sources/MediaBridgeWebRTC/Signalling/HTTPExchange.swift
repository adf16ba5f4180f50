internal import Foundation
internal import HTTPTypes
internal import MediaBasics
internal import MediaBridge
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
    typealias Reply = (response: HTTPResponse, body: [UInt8])

    /// The maximum length of a reply's body, in bytes.
    static let maximumLength = 256 * 1024

    private let reply = Mutex<(response: HTTPURLResponse?, body: [UInt8])>((nil, []))
    private let result = Once<Result<Reply, PipelineError>>()
    /// The scheme, host and port.
    private let server: String

    private init(to server: String) { self.server = server }

    /// Sends a request and waits for the reply.
    ///
    /// - Parameter timeout: The timeout for the whole exchange.
    static func send(
        _ method: HTTPRequest.Method, _ url: URL, _ fields: HTTPFields, body: [UInt8],
        within timeout: Duration
    ) async throws(PipelineError) -> Reply {
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
        exchange.result.expire(after: max(.zero, timeout))
        task.resume()
        let result = await exchange.result.value(isCancellable: true)
        if result == nil { task.cancel() }
        session.finishTasksAndInvalidate()
        if let result { return try result.get() }
        throw Task.isCancelled
            ? PipelineError(.closed, message: "the request was cancelled")
            : PipelineError(
                .deadlineExceeded,
                message: "\(exchange.server) did not answer within \(timeout.inSeconds) s",
                advice: "check the address, and that a server listens there")
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

    /// Ends the exchange with the reply received so far, unless it has ended.
    private func end() {
        let (response, body) = reply.withLock { $0 }
        let error = PipelineError(.unreachable, message: "\(server) did not answer")
        result.resume(
            response.map { .success((Self.translate($0), body)) }
                ?? .failure(error))
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
        reply.withLock { $0.response = response }
        end()
        task.cancel()
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if let response = response as? HTTPURLResponse {
            reply.withLock { $0.response = response }
        }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooLong = reply.withLock { reply in
            guard reply.body.count + data.count <= Self.maximumLength else { return true }
            reply.body.append(contentsOf: data)
            return false
        }
        guard isTooLong else { return }
        let error = PipelineError(
            .refused, message: "the answer of \(server) exceeds \(Self.maximumLength / 1024) KiB",
            advice: "the URL of a WHIP or WHEP endpoint")
        result.resume(.failure(error))
        dataTask.cancel()
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        if let error { result.resume(.failure(PipelineError(error, at: server))) } else { end() }
    }
}

extension Duration {
    fileprivate var inSeconds: String {
        let tenths = Int((self / .seconds(1) * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
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
    ///
    /// - Parameters:
    ///   - error: An error of `URLSession`. It names the URL, query included, and is not passed on.
    ///   - server: The scheme, host and port.
    init(_ error: any Error, at server: String) {
        let code = (error as? URLError)?.code
        let text = Self.textOfCurl(error)
        let isCertificate = code.map(Self.certificateCodes.contains) ?? false
        if isCertificate || text?.contains("certificate") == true {
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

    private static let certificateCodes: Set<URLError.Code> = [
        .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasUnknownRoot,
        .serverCertificateHasBadDate, .serverCertificateNotYetValid,
    ]

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
