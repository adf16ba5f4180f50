public import HTTPTypes

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
        var reply: ServerReply
        do throws(RequestRefusal) {
            reply = try await self.reply(to: request, body, rules)
        } catch {
            reply = ServerReply(error)
        }
        reply.response.headerFields[.xContentTypeOptions] = "nosniff"
        if let origin = rules.allowedOrigin(for: request) {
            reply.response.headerFields[.accessControlAllowOrigin] = origin
            reply.response.headerFields[.accessControlExposeHeaders] =
                "Location, ETag, Link, Accept-Patch, Retry-After"
            if origin != "*" { reply.response.headerFields[.vary] = "Origin" }
        }
        if request.method == .head {
            reply.response.headerFields[.contentLength] = "\(reply.body.count)"
            reply.body = []
        }
        return (reply.response, reply.body)
    }

    private func reply(
        to request: HTTPRequest, _ body: [UInt8], _ rules: AccessRules
    ) async throws(RequestRefusal) -> ServerReply {
        try rules.checkOrigin(of: request)
        let (path, query) = ServerPath.split(request.path ?? "")
        guard let place = ServerPath(path, configuration) else { throw .notFound }
        let allowed = place.methods.joined(separator: ", ")
        guard place.methods.contains(request.method.rawValue) else {
            throw RequestRefusal(
                .methodNotAllowed, "method not allowed; use: \(allowed)", [.allow: allowed])
        }
        guard body.count <= Self.maximumBodyLength else { throw .tooLong }
        if request.method == .options {
            // Pages use this to check that their session still exists. Only its own client knows
            // its ID.
            if case .session(let kind, let id) = place, channel?.session(id, kind) == nil {
                throw .noSession
            }
            return options(place, allowed, request, rules)
        }
        switch place {
        case .viewerPage, .senderPage: return page(place)
        case .endpoint(let kind):
            try rules.authorize(request)
            return try await post(kind, String(path), query, request, body)
        case .session(let kind, let id):
            try rules.authorize(request)
            guard let session = channel?.session(id, kind) else { throw .noSession }
            guard request.method == .patch else {
                await session.end()
                return ServerReply(.ok)
            }
            return try patch(session, request, body)
        }
    }

    private func options(
        _ place: ServerPath, _ allowed: String, _ request: HTTPRequest, _ rules: AccessRules
    ) -> ServerReply {
        var reply = ServerReply(.noContent)
        reply.response.headerFields[.allow] = allowed
        if rules.allowedOrigin(for: request) != nil {
            reply.response.headerFields[.accessControlAllowMethods] = allowed
            reply.response.headerFields[.accessControlAllowHeaders] =
                "Authorization, Content-Type, If-Match"
            reply.response.headerFields[.accessControlMaxAge] = "600"
        }
        if case .endpoint = place {
            reply.response.headerFields[.acceptPost] = "application/sdp"
            // TURN servers may have passwords, so the list is sent only to authorized clients.
            if (try? rules.authorize(request)) != nil { addServers(to: &reply) }
        }
        return reply
    }

    private func page(_ place: ServerPath) -> ServerReply {
        let needsServers = !links.isEmpty
        let html =
            place == .viewerPage
            ? Page.viewer(title: configuration.title, asksForServers: needsServers)
            : Page.sender(title: configuration.title, asksForServers: needsServers)
        var reply = ServerReply(.ok)
        reply.body = Array(html.utf8)
        reply.response.headerFields = Page.fields
        return reply
    }

    // MARK: Sessions

    private func post(
        _ kind: PeerSession.Kind, _ path: String, _ query: Substring, _ request: HTTPRequest,
        _ body: [UInt8]
    ) async throws(RequestRefusal) -> ServerReply {
        guard MediaType(request.headerFields[.contentType]) == .sdp else {
            throw RequestRefusal(
                .unsupportedMediaType, "the content type of an offer is application/sdp",
                [.acceptPost: "application/sdp"])
        }
        guard let offer = String(validating: body, as: UTF8.self) else {
            throw RequestRefusal(.badRequest, "invalid SDP offer: it is not UTF-8")
        }
        let outline = try OfferOutline(offer, kind)
        let name = try ServerPath.name(in: query)
        guard let channel else { throw RequestRefusal(.nothingShared) }
        let admitted: (session: PeerSession, answer: String)
        do throws(ServedChannel.Refusal) {
            admitted = try await channel.admit(kind, offer, name: name)
        } catch {
            throw RequestRefusal(error)
        }
        admitted.session.userFragment = outline.userFragment
        var reply = ServerReply(.created)
        reply.body = Array(admitted.answer.utf8)
        reply.response.headerFields[.contentType] = "application/sdp"
        reply.response.headerFields[.location] = "\(path)/\(admitted.session.id)"
        reply.response.headerFields[.eTag] = admitted.session.entityTag
        reply.response.headerFields[.acceptPatch] = MediaType.trickle.name
        reply.response.headerFields[.cacheControl] = "no-store"
        addServers(to: &reply)
        return reply
    }

    private func patch(
        _ session: PeerSession, _ request: HTTPRequest, _ body: [UInt8]
    ) throws(RequestRefusal) -> ServerReply {
        guard MediaType(request.headerFields[.contentType]) == .trickle else {
            throw RequestRefusal(
                .unsupportedMediaType,
                "the content type of candidates is \(MediaType.trickle.name)",
                [.acceptPatch: MediaType.trickle.name])
        }
        // Clients without this field are tolerated: they can only mean the current state.
        if let tags = request.headerFields[.ifMatch], !matches(session.entityTag, tags) {
            throw RequestRefusal(.preconditionFailed, "the entity tag is not that of the session")
        }
        guard let text = String(validating: body, as: UTF8.self) else {
            throw RequestRefusal(.badRequest, "invalid candidates: they are not UTF-8")
        }
        let fragment: TrickleFragment
        do throws(PeerError) { fragment = try TrickleFragment(parsing: text) } catch {
            throw RequestRefusal(.badRequest, error.message)
        }
        if let own = session.userFragment, let credentials = fragment.credentials,
            credentials.userFragment != own
        {
            throw RequestRefusal(
                .unprocessableContent,
                "ICE restarts are not supported; end the session and post a new offer")
        }
        session.add(fragment.candidates)
        var reply = ServerReply(.noContent)
        reply.response.headerFields[.eTag] = session.entityTag
        return reply
    }

    private func matches(_ tag: String, _ tags: String) -> Bool {
        tags.split(separator: ",").contains { part in
            let part = part.drop { $0 == " " }.prefix { $0 != " " }
            // Some clients omit the quotes.
            return part == "*" || part == tag || "\"\(part)\"" == tag
        }
    }

    // MARK: Servers

    private var links: [String] {
        (configuration.peerServers ?? configuration.connection.servers)
            .compactMap { ICEServerLink.link(to: $0) }
    }

    private func addServers(to reply: inout ServerReply) {
        for link in links {
            reply.response.headerFields.append(HTTPField(name: .link, value: link))
        }
    }
}

/// A response under construction, with its body.
private struct ServerReply {
    var response: HTTPResponse
    var body: [UInt8] = []

    init(_ status: HTTPResponse.Status) { response = HTTPResponse(status: status) }

    /// A refusal, with its reason as text.
    init(_ refusal: RequestRefusal) {
        (response, body) = refusal.response
    }
}

extension HTTPField.Name {
    fileprivate static let acceptPost = HTTPField.Name(known: "Accept-Post")
    fileprivate static let acceptPatch = HTTPField.Name(known: "Accept-Patch")
}
