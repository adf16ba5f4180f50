internal import Foundation

/// What a request of a server is about.
enum ServerPath: Equatable {
    case viewerPage
    case senderPage
    case endpoint(PeerSession.Kind)
    case session(PeerSession.Kind, id: String)

    /// - Returns: `nil` if there is nothing of that path.
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
            let kind: PeerSession.Kind
            if rest.hasPrefix("/whep/"), views {
                kind = .viewer
            } else if rest.hasPrefix("/whip/"), sends {
                kind = .sender
            } else {
                return nil
            }
            let id = rest.dropFirst(6)
            guard (1...64).contains(id.utf8.count), !id.contains("/") else { return nil }
            self = .session(kind, id: String(id))
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

    /// Splits the target of a request.
    static func split(_ target: String) -> (path: Substring, query: Substring) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        return (parts.first ?? "", parts.count > 1 ? parts[1] : "")
    }

    /// Returns the name that a peer wants (`?name=NAME`); `nil` if it wants none.
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
