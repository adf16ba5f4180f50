internal import Foundation
public import HTTPTypes
internal import MediaBridge

extension WebRTCServer {
    /// The maximum length of a request body, in bytes. A longer one is refused with 413, whether
    /// the caller has read all of it or only one byte too many.
    public static let maximumBodyLength = 256 * 1024

    /// Answers a request: WHEP, WHIP, or a page.
    ///
    /// - Parameters:
    ///   - request: The request; its path is absolute, with the query, and its authority is the `Host` field.
    ///   - body: The body.
    /// - Returns: The response, to be sent unchanged, and its body.
    public func respond(
        to request: HTTPRequest, body: [UInt8]
    ) async -> (HTTPResponse, [UInt8]) {
        let rules = AccessRules(configuration)
        do throws(RequestRefusal) {
            return complete(try await reply(to: request, body, rules), to: request, rules)
        } catch {
            return complete(error.response, to: request, rules)
        }
    }

    /// Returns the response to a request that is refused whatever its body is; `nil` if the body matters. Servers
    /// call it before they read a body.
    package func refusal(of request: HTTPRequest) -> (HTTPResponse, [UInt8])? {
        let rules = AccessRules(configuration)
        do throws(RequestRefusal) { _ = try place(of: request, rules) } catch {
            return complete(error.response, to: request, rules)
        }
        return nil
    }

    /// Adds the header fields that all responses have.
    private func complete(_ reply: Reply, to request: HTTPRequest, _ rules: AccessRules) -> Reply {
        var (response, bytes) = reply
        response.headerFields[.xContentTypeOptions] = "nosniff"
        if let origin = rules.allowedOrigin(for: request) {
            response.headerFields[.accessControlAllowOrigin] = origin
            response.headerFields[.accessControlExposeHeaders] =
                "Location, ETag, Link, Accept-Patch, Retry-After"
            if origin != "*" { response.headerFields[.vary] = "Origin" }
        }
        if request.method == .head {
            response.headerFields[.contentLength] = "\(bytes.count)"
            bytes = []
        }
        return (response, bytes)
    }

    private typealias Reply = (HTTPResponse, [UInt8])

    /// Returns the path and the query of a request.
    private func target(of request: HTTPRequest) -> (path: Substring, query: Substring) {
        let parts = (request.path ?? "").split(
            separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        return (parts[0], parts.count > 1 ? parts[1] : "")
    }

    /// Returns the resource that a request addresses, after all checks that do not depend on its body.
    private func place(
        of request: HTTPRequest, _ rules: AccessRules
    ) throws(RequestRefusal) -> ServerPath {
        try rules.checkOrigin(of: request)
        guard let place = ServerPath(target(of: request).path, configuration) else {
            throw .notFound
        }
        let allowed = place.methods.joined(separator: ", ")
        guard place.methods.contains(request.method.rawValue) else {
            throw RequestRefusal(
                .methodNotAllowed, "method not allowed; use: \(allowed)", [.allow: allowed])
        }
        switch place {
        case .endpoint, .session: if request.method != .options { try rules.authorize(request) }
        case .viewerPage, .senderPage: break
        }
        return place
    }

    private func reply(
        to request: HTTPRequest, _ body: [UInt8], _ rules: AccessRules
    ) async throws(RequestRefusal) -> Reply {
        let place = try place(of: request, rules)
        let (path, query) = target(of: request)
        guard body.count <= Self.maximumBodyLength else { throw .tooLong }
        if request.method == .options {
            // Pages use this to check that their session still exists. Only its own client knows
            // its ID.
            if case .session(let kind, let id) = place, channel?.session(id, kind) == nil {
                throw .noSession
            }
            return (options(place, request, rules), [])
        }
        switch place {
        case .viewerPage, .senderPage: return page(place)
        case .endpoint(let kind):
            return try await post(kind, String(path), query, request, body)
        case .session(let kind, let id):
            guard let session = channel?.session(id, kind) else { throw .noSession }
            guard request.method == .patch else {
                await session.end()
                return (HTTPResponse(status: .ok), [])
            }
            return (try patch(session, request, body), [])
        }
    }

    private func options(
        _ place: ServerPath, _ request: HTTPRequest, _ rules: AccessRules
    ) -> HTTPResponse {
        let allowed = place.methods.joined(separator: ", ")
        var response = HTTPResponse(status: .noContent, headerFields: [.allow: allowed])
        if rules.allowedOrigin(for: request) != nil {
            response.headerFields[.accessControlAllowMethods] = allowed
            response.headerFields[.accessControlAllowHeaders] =
                "Authorization, Content-Type, If-Match"
            response.headerFields[.accessControlMaxAge] = "600"
        }
        if case .endpoint = place {
            response.headerFields[.acceptPost] = MediaType.sdp
            // TURN servers may have passwords, so the list is sent only to authorized clients.
            if (try? rules.authorize(request)) != nil { addServers(to: &response) }
        }
        return response
    }

    private func page(_ place: ServerPath) -> Reply {
        (
            HTTPResponse(status: .ok, headerFields: Page.fields),
            place == .viewerPage ? viewerPage : senderPage
        )
    }

    // MARK: Sessions

    private func post(
        _ kind: PeerSession.Kind, _ path: String, _ query: Substring, _ request: HTTPRequest,
        _ body: [UInt8]
    ) async throws(RequestRefusal) -> Reply {
        guard request.headerFields.mediaType == MediaType.sdp else {
            throw RequestRefusal(
                .unsupportedMediaType, "the content type of an offer is \(MediaType.sdp)",
                [.acceptPost: MediaType.sdp])
        }
        guard let offer = String(validating: body, as: UTF8.self) else {
            throw RequestRefusal(.badRequest, "invalid SDP offer: it is not UTF-8")
        }
        let userFragment = try Self.checked(offer, kind)
        let name = try ServerPath.name(in: query)
        guard let channel else { throw .nothingShared }
        let (session, answer) = try await channel.admit(kind, offer, userFragment, name: name)
        let fields: HTTPFields = [
            .contentType: MediaType.sdp, .location: "\(path)/\(session.id)",
            .eTag: session.entityTag, .acceptPatch: MediaType.trickle, .cacheControl: "no-store",
        ]
        var response = HTTPResponse(status: .created, headerFields: fields)
        addServers(to: &response)
        return (response, Array(answer.utf8))
    }

    /// Checks an offer before a connection is made for it.
    ///
    /// - Returns: The ICE user fragment of the peer.
    private static func checked(
        _ offer: String, _ kind: PeerSession.Kind
    ) throws(RequestRefusal) -> String {
        let description: SessionDescription
        do throws(PipelineError) { description = try SessionDescription(offer) } catch {
            throw RequestRefusal(error)
        }
        func bad(_ what: String) -> RequestRefusal {
            RequestRefusal(.badRequest, "invalid SDP offer: \(what)")
        }
        let media = description.media.filter { $0.kind == .video || $0.kind == .audio }
        guard !media.isEmpty else { throw bad("it has neither video nor audio") }
        guard description.media.count <= maximumMedia else {
            throw bad("it has more than \(maximumMedia) media lines")
        }
        let attributes = description.attributes + description.media.flatMap(\.attributes)
        guard let userFragment = attributes.first(where: { $0.name == "ice-ufrag" })?.value,
            ["ice-pwd", "fingerprint"].allSatisfy({ name in
                attributes.contains { $0.name == name }
            })
        else { throw bad("it lacks ice-ufrag, ice-pwd or fingerprint") }
        guard media.contains(where: { kind == .viewer ? $0.isReceiving : $0.isSending }) else {
            throw RequestRefusal(
                .notAcceptable,
                kind == .viewer
                    ? "the offer receives nothing; senders use /whip"
                    : "the offer sends nothing; viewers use /whep")
        }
        return userFragment
    }

    private static var maximumMedia: Int { 32 }

    private func patch(
        _ session: PeerSession, _ request: HTTPRequest, _ body: [UInt8]
    ) throws(RequestRefusal) -> HTTPResponse {
        guard request.headerFields.mediaType == MediaType.trickle else {
            throw RequestRefusal(
                .unsupportedMediaType, "the content type of candidates is \(MediaType.trickle)",
                [.acceptPatch: MediaType.trickle])
        }
        // Clients without this field are tolerated: they can only mean the current state.
        if let tags = request.headerFields[.ifMatch], !matches(session.entityTag, tags) {
            throw RequestRefusal(.preconditionFailed, "the entity tag is not that of the session")
        }
        guard let text = String(validating: body, as: UTF8.self) else {
            throw RequestRefusal(.badRequest, "invalid candidates: they are not UTF-8")
        }
        let fragment: TrickleFragment
        do throws(PipelineError) { fragment = try TrickleFragment(parsing: text) } catch {
            throw RequestRefusal(.badRequest, error.message)
        }
        if let userFragment = fragment.userFragment, userFragment != session.userFragment {
            throw RequestRefusal(
                .unprocessableContent,
                "ICE restarts are not supported; end the session and post a new offer")
        }
        session.add(fragment.candidates)
        return HTTPResponse(status: .noContent, headerFields: [.eTag: session.entityTag])
    }

    private func matches(_ tag: String, _ tags: String) -> Bool {
        tags.split(separator: ",").contains { part in
            let part = part.drop { $0 == " " }.prefix { $0 != " " }
            // Some clients omit the quotes.
            return part == "*" || part == tag || "\"\(part)\"" == tag
        }
    }

    // MARK: Servers

    static func links(to configuration: Configuration) -> [String] {
        (configuration.peerICEServers ?? configuration.connection.iceServers)
            .compactMap { ICEServerLink.link(to: $0) }
    }

    private func addServers(to response: inout HTTPResponse) {
        for link in Self.links(to: configuration) {
            response.headerFields.append(HTTPField(name: .link, value: link))
        }
    }
}

// MARK: - Requests

/// The resource that a request addresses.
private enum ServerPath: Equatable {
    case viewerPage
    case senderPage
    case endpoint(PeerSession.Kind)
    case session(PeerSession.Kind, id: String)

    /// - Returns: `nil` for an unknown path.
    init?(_ path: some StringProtocol, _ configuration: WebRTCServer.Configuration) {
        guard path.hasPrefix(configuration.path) else { return nil }
        let rest = path.dropFirst(configuration.path.count)
        let (views, sends) = (configuration.takesViewers, configuration.takesSenders)
        switch rest {
        case "/": self = views ? .viewerPage : .senderPage
        case "/watch" where views: self = .viewerPage
        case "/send" where sends: self = .senderPage
        case "/whep" where views: self = .endpoint(.viewer)
        case "/whip" where sends: self = .endpoint(.sender)
        default:
            let (isViewer, id) = (rest.hasPrefix("/whep/"), rest.dropFirst(6))
            guard isViewer ? views : sends && rest.hasPrefix("/whip/"),
                (1...64).contains(id.utf8.count), !id.contains("/")
            else { return nil }
            self = .session(isViewer ? .viewer : .sender, id: String(id))
        }
    }

    /// The value of `Allow`.
    var methods: [String] {
        switch self {
        case .viewerPage, .senderPage: ["GET", "HEAD", "OPTIONS"]
        case .endpoint: ["POST", "OPTIONS"]
        case .session: ["PATCH", "DELETE", "OPTIONS"]
        }
    }

    /// Returns the name that a peer requests (`?name=NAME`); `nil` if it requests none.
    static func name(in query: Substring) throws(RequestRefusal) -> String? {
        for item in query.split(separator: "&") where item.hasPrefix("name=") {
            let text = item.dropFirst(5).replacingOccurrences(of: "+", with: " ")
            guard let name = text.removingPercentEncoding, (1...64).contains(name.count),
                name.utf8.count <= 256, name.unicodeScalars.allSatisfy(isNamePart)
            else {
                throw RequestRefusal(
                    .badRequest,
                    "invalid name: up to 64 letters, digits, spaces and the characters . _ - @")
            }
            return name
        }
        return nil
    }

    private static func isNamePart(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || scalar.properties.numericType != nil
            || " ._-@".unicodeScalars.contains(scalar)
    }
}

extension HTTPField.Name {
    fileprivate static let acceptPost = HTTPField.Name(known: "Accept-Post")
    fileprivate static let acceptPatch = HTTPField.Name(known: "Accept-Patch")
}
