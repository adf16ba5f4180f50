package import Foundation
internal import HTTPTypes
internal import MediaBasics
internal import MediaBridge
internal import Synchronization

/// A client of WHIP (RFC 9725) and WHEP (draft-ietf-wish-whep), which differ only in the direction
/// of the media. The client posts an offer and receives the answer and the URL of the new session.
///
/// The token is sent only to the endpoint's origin, even if the server redirects to another origin
/// or names a resource there. Thread: any.
package struct SignallingClient: Sendable {
    /// The URL to which offers are posted.
    package let endpoint: URL
    private let token: String?
    private let timeout: Duration
    /// The timeout for the end of a session.
    fileprivate var sessionTimeout: Duration { timeout / 2 }

    private static let maximumRedirects = 5

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - endpoint: The URL of the server's endpoint: `https://HOST/whip`, `http://HOST:PORT/whep`.
    ///   - token: The bearer token. Default `nil`: none.
    ///   - timeout: The timeout for the answer to an offer, redirects included; requests of the
    ///     session get half of it. Default 10 s.
    /// - Throws: `PipelineError.Code.badValue`.
    package init(
        _ endpoint: String, token: String? = nil, timeout: Duration = .seconds(10).asDefaultDeadline
    ) throws(PipelineError) {
        guard let url = URL(string: endpoint), let origin = Origin(of: url) else {
            throw PipelineError(
                .badValue, message: "invalid URL of a WHIP or WHEP endpoint",
                advice: "https://HOST/PATH or http://HOST:PORT/PATH")
        }
        guard url.user == nil, url.password == nil else {
            throw PipelineError(
                .badValue, message: "the URL for \(origin) has a user name, which is never sent",
                advice: "a token, and the URL without the user name")
        }
        if let token, !BearerToken.isValid(token) {
            throw PipelineError(
                .badValue, message: "the token for \(origin) cannot be sent in a header",
                advice: "a token of printable ASCII characters, without spaces")
        }
        self.endpoint = url
        self.token = token
        self.timeout = timeout
    }

    /// Posts an offer and waits for the answer.
    ///
    /// - Parameter offer: The session description.
    /// - Throws: `PipelineError` if there is no answer. If the server refuses, the error has the
    ///   server's status and the first line of its text: `PipelineError.Code.unauthorized`,
    ///   `PipelineError.Code.nothingInCommon`, `PipelineError.Code.busy` (try again later),
    ///   `PipelineError.Code.refused`. Otherwise it is `PipelineError.Code.unreachable`,
    ///   `PipelineError.Code.deadlineExceeded`, `PipelineError.Code.badDescription`, or
    ///   `PipelineError.Code.closed` if the task is cancelled.
    package func post(offer: String) async throws(PipelineError) -> SignallingSession {
        var url = endpoint
        let deadline = ContinuousClock.now + timeout
        for _ in 0...Self.maximumRedirects {
            let reply = try await request(
                .post, url, [.contentType: MediaType.sdp, .accept: MediaType.sdp],
                body: Array(offer.utf8), within: deadline - .now)
            switch reply.response.status.code {
            case 307, 308: url = try redirection(of: reply.response, from: url)
            case 201, 200: return try session(reply, at: url)
            default: throw .refusal(reply, by: url, sentToken: sendsToken(to: url))
            }
        }
        throw PipelineError(
            .refused, message: "too many redirects from \(Origin.text(of: endpoint))",
            advice: "the URL of the endpoint itself")
    }

    /// Sends a request, with the token if the URL has the token's origin.
    fileprivate func request(
        _ method: HTTPRequest.Method, _ url: URL, _ fields: HTTPFields = [:], body: [UInt8] = [],
        within timeout: Duration
    ) async throws(PipelineError) -> HTTPExchange.Reply {
        var fields = fields
        if let token, sendsToken(to: url) { fields[.authorization] = "Bearer \(token)" }
        return try await HTTPExchange.send(method, url, fields, body: body, within: timeout)
    }

    private func sendsToken(to url: URL) -> Bool {
        token != nil && Origin(of: url) == Origin(of: endpoint)
    }

    private func redirection(
        of response: HTTPResponse, from url: URL
    ) throws(PipelineError) -> URL {
        guard let location = response.headerFields[.location],
            let next = URL(string: location, relativeTo: url)?.absoluteURL,
            let origin = Origin(of: next)
        else {
            throw PipelineError(
                .refused, message: "\(Origin.text(of: url)) redirects to an invalid URL",
                advice: "the URL of the endpoint itself")
        }
        // Otherwise an eavesdropper could downgrade a private connection to an unencrypted one.
        guard !(url.scheme?.lowercased() == "https" && origin.scheme == "http") else {
            throw PipelineError(
                .refused, message: "\(Origin.text(of: url)) redirects from https to http",
                advice: "\(origin) directly, if unencrypted signalling is intended")
        }
        return next
    }

    private func session(
        _ reply: HTTPExchange.Reply, at url: URL
    ) throws(PipelineError) -> SignallingSession {
        let fields = reply.response.headerFields
        let type = fields.mediaType
        let answer = String(decoding: reply.body, as: UTF8.self)
        guard type.isEmpty || type == MediaType.sdp, answer.hasPrefix("v=0") else {
            throw PipelineError(
                .badDescription,
                message: "\(Origin.text(of: url)) answered \(reply.response.status.code) with "
                    + "\(type.isEmpty ? "unknown content" : type.printablePrefix) instead of a session description",
                advice: "the URL of a WHIP or WHEP endpoint, not of a page")
        }
        let resource = fields[.location].flatMap { URL(string: $0, relativeTo: url)?.absoluteURL }
        return SignallingSession(
            self, answer: answer, resource: resource.flatMap { Origin(of: $0) == nil ? nil : $0 })
    }
}

// MARK: - SignallingSession

/// A session with a WHIP or WHEP server, created by the answer to an offer.
///
/// Thread: any. Its release sends nothing to the server: call ``end()``.
package final class SignallingSession: Sendable {
    /// The server's session description.
    package let answer: String
    /// The URL of the session. If the server gave none, it is `nil`, and the server is not told of the end of
    /// the session.
    package let resource: URL?
    private let client: SignallingClient
    private let isOver = Atomic<Bool>(false)

    fileprivate init(_ client: SignallingClient, answer: String, resource: URL?) {
        self.client = client
        self.answer = answer
        self.resource = resource
    }

    /// Ends the session on the server. A second call does nothing. A server that does not answer,
    /// or has already ended the session, is not an error.
    package func end() async {
        guard !isOver.exchange(true, ordering: .relaxed), let resource else { return }
        // A separate task: the end of the caller's task is the usual reason to end the session.
        let client = self.client
        await Task.detached {
            // Sent once more if the connection fails, which is allowed for a DELETE (RFC 9110,
            // section 9.2.2): otherwise the server keeps the session until its media has been
            // silent for a long time.
            for _ in 0..<2 {
                do throws(PipelineError) {
                    _ = try await client.request(.delete, resource, within: client.sessionTimeout)
                    return
                } catch {
                    guard error.code == .unreachable else { return }
                }
            }
        }.value
    }
}

// MARK: - AnsweredConnection

/// A connection to a WHIP or WHEP server, with its session there.
struct AnsweredConnection: Sendable {
    let peer: PeerConnection
    fileprivate let session: SignallingSession

    /// Ends the session at the server and closes the connection.
    func close() async {
        async let isEnded: Void = session.end()
        await peer.close()
        await isEnded
    }
}

extension SignallingClient {
    /// Makes an offer, posts it, and takes the answer.
    ///
    /// - Throws: `PipelineError`; the session is ended then.
    func connect(
        _ role: PeerConnection.Role, _ media: PeerConnection.Media,
        _ configuration: PeerConnection.Configuration, observer: any PeerConnectionObserver
    ) async throws(PipelineError) -> AnsweredConnection {
        let peer = PeerConnection(role, media, configuration: configuration, observer: observer)
        var session: SignallingSession?
        do throws(PipelineError) {
            let answered = try await post(offer: peer.offer())
            session = answered
            try await peer.accept(answer: answered.answer)
            return AnsweredConnection(peer: peer, session: answered)
        } catch {
            await session?.end()
            await peer.close()
            throw error
        }
    }
}

// MARK: - BearerToken

/// The token of a client (`Authorization: Bearer`).
package enum BearerToken {
    /// The maximum length of a token, in bytes.
    package static let maximumLength = 4096

    /// Returns whether a header can contain a token: printable ASCII without spaces.
    package static func isValid(_ token: String) -> Bool {
        (1...maximumLength).contains(token.utf8.count)
            && token.utf8.allSatisfy { (0x21...0x7e).contains($0) }
    }
}

// MARK: - Origin

/// The origin of a URL, which decides whether it gets the token.
struct Origin: Hashable, CustomStringConvertible {
    let scheme: String
    let host: String
    let port: Int

    /// - Returns: `nil` if the URL is not an HTTP URL, or has no host.
    init?(of url: URL) {
        guard let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme),
            let host = url.host?.lowercased(), !host.isEmpty
        else { return nil }
        self.scheme = scheme
        self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        port = url.port ?? (scheme == "https" ? 443 : 80)
    }

    /// The host and the port, as in a `Host` field.
    var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    var description: String { "\(scheme)://\(authority)" }

    /// The origin as text. Paths, queries and user names may be secrets and are omitted.
    static func text(of url: URL) -> String { Origin(of: url)?.description ?? "the server" }
}
