internal import Foundation
internal import HTTPTypes

extension HTTPField.Name {
    /// The field that names STUN and TURN servers.
    static let link = HTTPField.Name(known: "Link")

    /// Creates a name from a valid literal.
    init(known name: String) { self = HTTPField.Name(name) ?? .via }
}

/// Converts STUN and TURN servers, in the form of ``PeerConnection/Configuration/iceServers``, to `Link` headers
/// (RFC 9725, section 4.6).
enum ICEServerLink {
    private static let schemes: Set<String> = ["stun", "stuns", "turn", "turns"]

    /// Returns the value of `Link` for a server; `nil` for an invalid one.
    static func link(to server: String) -> String? {
        guard let mark = server.range(of: "://"), server.utf8.count <= 4096,
            server.utf8.allSatisfy({ (0x21...0x7e).contains($0) && !"<>\"\\".utf8.contains($0) })
        else { return nil }
        let scheme = server[..<mark.lowerBound].lowercased()
        let rest = server[mark.upperBound...]
        guard schemes.contains(scheme), !rest.isEmpty else { return nil }
        guard scheme.hasPrefix("turn"), let at = rest.lastIndex(of: "@") else {
            return "<\(scheme):\(rest)>; rel=\"ice-server\""
        }
        let names = rest[..<at].split(
            separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let user = String(names[0]).removingPercentEncoding,
            let password = String(names.count > 1 ? names[1] : "").removingPercentEncoding,
            user.isHeaderText, password.isHeaderText
        else { return nil }
        return "<\(scheme):\(rest[rest.index(after: at)...])>; rel=\"ice-server\"; "
            + "username=\(user.quoted); credential=\(password.quoted); "
            + "credential-type=\"password\""
    }
}

extension String {
    /// The text as a quoted string of a header.
    fileprivate var quoted: String {
        "\""
            + replacingOccurrences(of: "\\", with: "\\\\")
            .replacingOccurrences(of: "\"", with: "\\\"") + "\""
    }

    /// Whether a header can contain the text.
    fileprivate var isHeaderText: Bool { utf8.allSatisfy { (0x20...0x7e).contains($0) } }
}
