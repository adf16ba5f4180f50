package import HTTPTypes

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

    /// Checks the token.
    func authorize(_ request: HTTPRequest) throws(RequestRefusal) {
        guard let token else { return }
        guard BearerToken.matches(token, request.headerFields[.authorization]) else {
            throw .noToken
        }
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

    /// The host and the port that the client called.
    private func authority(of request: HTTPRequest) -> String? {
        request.authority?.lowercased()
    }

    private func host(of request: HTTPRequest) -> String? {
        guard let authority = authority(of: request) else { return nil }
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
        guard let authority = authority(of: request), let mark = origin.range(of: "://") else {
            return false
        }
        return origin[mark.upperBound...] == authority
    }
}

extension String {
    /// The first place of a text; Foundation is not needed for that.
    fileprivate func range(of text: String) -> Range<String.Index>? { firstRange(of: text) }
}
