internal import FoundationEssentials

/// What one of Janus's signed tokens says. The signature is for the server to check.
struct SignedToken: Sendable {
    static let coreRealm = "janus"
    static let roomRealm = "janus.plugin.videoroom"

    /// Seconds since 1970.
    let expiry: Int64
    let realm: String
    let descriptions: [String]

    /// - Returns: `nil` for a text that is no such token.
    init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[1].isEmpty else { return nil }
        let data = parts[0].split(separator: ",", omittingEmptySubsequences: false)
        guard data.count >= 2, let expiry = Int64(data[0]) else { return nil }
        self.expiry = expiry
        realm = String(data[1])
        descriptions = data.dropFirst(2).map(String.init)
    }

    /// Whether it is for the server and its VideoRoom plugin.
    var isForServer: Bool {
        realm == Self.coreRealm && descriptions.contains(Self.roomRealm)
    }

    /// Whether it is for the room of a name.
    func isFor(room: String) -> Bool {
        realm == Self.roomRealm && descriptions.contains("room=\(room)")
    }

    /// Whether it is over at a time.
    func isOver(at now: Date) -> Bool { Int64(now.timeIntervalSince1970) > expiry }
}

/// The token of a request to join: one for the server and one for the room, separated by a space. A text
/// without a space is sent as either.
struct TokenPair: Hashable, Sendable {
    /// `nil` for none.
    let server: String?
    /// `nil` for none.
    let room: String?

    init(_ text: String?) {
        let parts = (text ?? "").split(separator: " ").map(String.init)
        server = parts.first
        room = parts.count > 1 ? parts[1] : parts.first
    }

    /// How long both are valid from a time on; `nil` if that is not said.
    func lifetime(from now: Date) -> Duration? {
        let expiries = [server, room].compactMap { $0.flatMap(SignedToken.init)?.expiry }
        guard let first = expiries.min() else { return nil }
        let left = Double(first) - now.timeIntervalSince1970
        return .milliseconds(Int64(min(max(0, left), 3_155_760_000) * 1000))
    }
}
