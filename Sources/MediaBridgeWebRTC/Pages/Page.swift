package import HTTPTypes

/// The pages for browsers, from the files in this folder.
package enum Page {
    /// The header fields of a page. It can connect only to its own server, and other sites cannot frame it.
    package static let fields: HTTPFields = [
        .contentType: "text/html; charset=utf-8",
        .cacheControl: "no-store",
        .xContentTypeOptions: "nosniff",
        HTTPField.Name(known: "Referrer-Policy"): "no-referrer",
        .contentSecurityPolicy:
            "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
            + "connect-src 'self'; media-src 'self' blob:; img-src 'self' data:; "
            + "base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
    ]

    /// Returns the page on which a browser watches.
    static func viewer(title: String, asksForServers: Bool) -> String {
        filled(PackageResources.viewer_html, title: title, asksForServers: asksForServers)
    }

    /// Returns the page from which a browser sends its camera, its microphone or its screen.
    static func sender(title: String, asksForServers: Bool) -> String {
        filled(PackageResources.sender_html, title: title, asksForServers: asksForServers)
    }

    /// Replaces the names in double braces in a page.
    ///
    /// - Parameters:
    ///   - page: The bytes of the file. It may contain the names of the shared files, `title` and `asksForServers`.
    ///   - title: Plain text.
    ///   - asksForServers: Whether the page asks for STUN and TURN servers before it connects.
    package static func filled(_ page: [UInt8], title: String, asksForServers: Bool) -> String {
        let values = [
            "title": escaped(title),
            "asksForServers": String(asksForServers),
            "page.css": text(PackageResources.page_css),
            "page.js": text(PackageResources.page_js),
            "token-form.html": text(PackageResources.token_form_html),
        ]
        let parts = String(decoding: page, as: UTF8.self)
            .split(separator: "{{", omittingEmptySubsequences: false)
        return parts.map { part in
            guard let end = part.firstRange(of: "}}") else { return String(part) }
            return (values[String(part[..<end.lowerBound])] ?? "") + part[end.upperBound...]
        }.joined()
    }

    /// A shared file without its last line feed.
    private static func text(_ file: [UInt8]) -> String {
        let text = String(decoding: file, as: UTF8.self)
        return text.last == "\n" ? String(text.dropLast()) : text
    }

    private static func escaped(_ text: String) -> String {
        text.map { character in
            switch character {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            case "\"": "&quot;"
            case "'": "&#39;"
            default: String(character)
            }
        }.joined()
    }
}
