internal import Foundation
internal import HTTPTypes

extension HTTPField.Name {
    /// The field that names STUN and TURN servers.
    static let link = HTTPField.Name(known: "Link")

    /// Creates a name from a valid literal.
    init(known name: String) { self = HTTPField.Name(name) ?? .via }
}

/// Converts STUN and TURN servers between `Link` headers (RFC 9725, section 4.6) and the form of
/// ``PeerConnection/Configuration/servers``.
package enum ICEServerLink {
    /// The maximum number of servers that are taken from a reply.
    private static let maximum = 16

    /// Returns the servers in values of `Link`, each with any number of links.
    package static func servers(in values: [String]) -> [String] {
        var servers: [String] = []
        for value in values where value.utf8.count <= 65536 {
            for link in Link.all(in: value) where link.relation == "ice-server" {
                guard servers.count < maximum else { return servers }
                if let server = server(link) { servers.append(server) }
            }
        }
        return servers
    }

    /// Returns the value of `Link` for a server; `nil` for an invalid one.
    package static func link(to server: String) -> String? {
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

    private static let schemes: Set<String> = ["stun", "stuns", "turn", "turns"]

    private static func server(_ link: Link) -> String? {
        guard let colon = link.target.firstIndex(of: ":") else { return nil }
        let scheme = link.target[..<colon].lowercased()
        let address = link.target[link.target.index(after: colon)...]
        guard schemes.contains(scheme), !address.isEmpty, address.utf8.count <= 512,
            address.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "@") })
        else { return nil }
        guard scheme.hasPrefix("turn") else { return "\(scheme)://\(address)" }
        guard let user = (link.values["username"] ?? "").escaped,
            let password = (link.values["credential"] ?? "").escaped
        else { return nil }
        return "\(scheme)://\(user):\(password)@\(address)"
    }
}

/// One link of a `Link` header (RFC 8288).
private struct Link {
    let target: String
    let values: [String: String]
    var relation: String? { values["rel"]?.lowercased() }

    static func all(in value: String) -> [Link] {
        var reader = Reader(rest: value[...])
        var links: [Link] = []
        while let link = reader.next(), links.count < 64 { links.append(link) }
        return links
    }

    /// Reads links from the start of a text, up to the first invalid one.
    private struct Reader {
        var rest: Substring

        mutating func next() -> Link? {
            skip { $0 == " " || $0 == "\t" || $0 == "," }
            guard rest.popFirst() == "<", let end = rest.firstIndex(of: ">") else { return nil }
            let target = String(rest[..<end])
            rest = rest[rest.index(after: end)...]
            var values: [String: String] = [:]
            while true {
                skip(\.isBlank)
                guard rest.first == ";" else { break }
                rest.removeFirst()
                skip(\.isBlank)
                let name = take { !" \t=;,".contains($0) }.lowercased()
                skip(\.isBlank)
                var value = ""
                if rest.first == "=" {
                    rest.removeFirst()
                    skip(\.isBlank)
                    value = rest.first == "\"" ? quoted() : take { !" \t;,".contains($0) }
                }
                if !name.isEmpty, values[name] == nil { values[name] = value }
            }
            return Link(target: target, values: values)
        }

        private mutating func skip(_ isSkipped: (Character) -> Bool) {
            rest = rest.drop(while: isSkipped)
        }

        private mutating func take(_ isTaken: (Character) -> Bool) -> String {
            let text = rest.prefix(while: isTaken)
            rest = rest[text.endIndex...]
            return String(text)
        }

        private mutating func quoted() -> String {
            rest.removeFirst()
            var text = ""
            while let character = rest.popFirst(), character != "\"" {
                if character == "\\", let escaped = rest.popFirst() {
                    text.append(escaped)
                } else {
                    text.append(character)
                }
            }
            return text
        }
    }
}

extension Character {
    fileprivate var isBlank: Bool { self == " " || self == "\t" }
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

    /// The text, percent-escaped for a URL; `nil` if it is too long.
    fileprivate var escaped: String? {
        guard utf8.count <= 1024 else { return nil }
        let plain = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        return addingPercentEncoding(withAllowedCharacters: plain)
    }
}
