package import HTTPTypes
internal import MediaBridge

/// The rules by which every listener admits requests: token, `Host` and `Origin`.
///
/// Browsers let any page send requests to any address of the machine and its networks. Without a token, two rules
/// keep other pages out: a page of another origin sends its `Origin`, and a page whose own name leads to this server
/// (DNS rebinding) sends that name as `Host`.
package struct AccessRules: Sendable {
    private let token: String?
    private let origins: [String]
    private let hosts: [String]
    private let needsToken: Bool

    /// Creates the rules of a server that checks tokens itself.
    ///
    /// - Parameters:
    ///   - needsToken: Whether each request needs a token, so that `Host` and `Origin` do not matter.
    ///   - allowedHosts: The names of the server in addition to IP addresses and `localhost`; `*` for all.
    package init(needsToken: Bool, allowedHosts: [String]) {
        token = nil
        self.needsToken = needsToken
        origins = needsToken ? ["*"] : []
        hosts = allowedHosts.map { $0.lowercased() }
    }

    init(_ configuration: WebRTCServer.Configuration) {
        token = configuration.token
        needsToken = token != nil
        let origins = configuration.allowedOrigins.map { $0.lowercased() }
        self.origins = origins.isEmpty && needsToken ? ["*"] : origins
        hosts = configuration.allowedHosts.map { $0.lowercased() }
    }

    /// Checks that the request is meant for this server and comes from no page that may not use it.
    package func checkOrigin(of request: HTTPRequest) throws(RequestRefusal) {
        if !needsToken, let host = host(of: request), !isOwn(host) {
            throw RequestRefusal(
                .init(code: 421, reasonPhrase: "Misdirected Request"),
                "unknown host name; use the server's address, or add the name (--host-name, allowedHosts)"
            )
        }
        guard let origin = origin(of: request), allowedOrigin(for: request) == nil,
            !isSame(origin, as: request)
        else { return }
        throw RequestRefusal(.forbidden, "pages from this origin cannot use this server")
    }

    /// Checks the token. The time this takes does not depend on how much of the token is correct.
    func authorize(_ request: HTTPRequest) throws(RequestRefusal) {
        guard let token else { return }
        let parts = (request.headerFields[.authorization] ?? "").split(
            separator: " ", maxSplits: 1)
        let right = Array(token.utf8)
        guard parts.count == 2, parts[0].lowercased() == "bearer", !right.isEmpty else {
            throw .noToken
        }
        // Every byte of the given token is compared, even after a mismatch.
        var difference = right.count ^ parts[1].utf8.count
        for (index, byte) in parts[1].utf8.enumerated() {
            difference |= Int(byte ^ right[index % right.count])
        }
        if difference != 0 { throw .noToken }
    }

    /// The value of `Access-Control-Allow-Origin`; `nil` if pages of others may not read the response.
    func allowedOrigin(for request: HTTPRequest) -> String? {
        guard !origins.contains("*") else { return "*" }
        guard let origin = origin(of: request), origins.contains(origin) else { return nil }
        return origin
    }

    private func origin(of request: HTTPRequest) -> String? {
        request.headerFields[.origin]?.lowercased()
    }

    private func host(of request: HTTPRequest) -> String? {
        guard let authority = request.authority?.lowercased() else { return nil }
        if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
            return String(authority[...end])
        }
        return String(authority.prefix { $0 != ":" })
    }

    /// Whether a host is an address, `localhost`, or a name that was allowed.
    private func isOwn(_ host: String) -> Bool {
        if host.hasPrefix("[") || host == "localhost" || host.hasSuffix(".localhost") {
            return true
        }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        let isAddress = parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
        return isAddress || host.isEmpty || hosts.contains("*") || hosts.contains(host)
    }

    private func isSame(_ origin: String, as request: HTTPRequest) -> Bool {
        guard let mark = origin.firstRange(of: "://") else { return false }
        return String(origin[mark.upperBound...]) == request.authority?.lowercased()
    }
}

// MARK: - RequestRefusal

/// Why a request is refused, as reported to the client.
package struct RequestRefusal: Error {
    let status: HTTPResponse.Status
    /// One line, without any text from the client.
    let text: String
    let fields: HTTPFields

    package init(_ status: HTTPResponse.Status, _ text: String, _ fields: HTTPFields = [:]) {
        self.status = status
        self.text = text
        self.fields = fields
    }

    /// A temporary refusal; a later attempt may succeed.
    ///
    /// - Parameter delay: The delay before the next attempt, in seconds.
    init(_ status: HTTPResponse.Status, _ text: String, retryAfter delay: Int) {
        self.init(status, text, [.retryAfter: "\(delay)"])
    }

    /// The response, with the reason as its text body.
    package var response: (HTTPResponse, [UInt8]) {
        var response = HTTPResponse(status: status, headerFields: fields)
        response.headerFields[.contentType] = "text/plain; charset=utf-8"
        response.headerFields[.xContentTypeOptions] = "nosniff"
        return (response, Array((text + "\n").utf8))
    }

    static let tooLong = RequestRefusal(.contentTooLarge, "the request body is larger than 256 KiB")
    static let notFound = RequestRefusal(.notFound, "not found")
    static let noSession = RequestRefusal(.notFound, "session not found; it may have ended")
    static let noToken = RequestRefusal(
        .unauthorized, "a token is required: Authorization: Bearer …",
        [.wwwAuthenticate: "Bearer realm=\"media\""])

    static let nothingShared = RequestRefusal(
        .conflict, "nothing is being shared; try again later", retryAfter: 1)
    static let full = RequestRefusal(
        .serviceUnavailable, "the server is full", retryAfter: 10)
    static let fewDescriptors = RequestRefusal(
        .serviceUnavailable, "the server is short of file descriptors; its limit is ulimit -n",
        retryAfter: 10)
    static let crowded = RequestRefusal(
        .tooManyRequests, "too many clients are connecting", retryAfter: 1)
    static let nameTaken = RequestRefusal(
        .conflict, "this name is in use; choose another", retryAfter: 5)
    static let over = RequestRefusal(
        .conflict, "the engine has left the channel; try again later", retryAfter: 1)

    /// Creates the refusal of an offer that the connection has refused.
    init(_ error: PipelineError) {
        switch error.code {
        case .badDescription:
            self.init(.badRequest, "invalid SDP offer: \(error.message.printablePrefix)")
        case .nothingInCommon:
            self.init(.notAcceptable, "the offer has no codec in common with the server")
        case .deadlineExceeded:
            self.init(.serviceUnavailable, "the server took too long to answer", retryAfter: 1)
        default: self.init(.internalServerError, "cannot create the connection")
        }
    }
}
