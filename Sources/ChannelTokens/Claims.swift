internal import BridgeEngine
internal import FoundationEssentials

/// The contents of a token.
struct Claims: Equatable {
    /// The version of the format. Any change of the format below needs a new one.
    private static let version = "mb1"
    private static let anybody = "*"

    let channel: String
    /// `nil` for any user.
    let userID: UserID?
    /// Milliseconds since 1970, not negative.
    let expiry: Int64

    init(channel: String, userID: UserID?, expires: Date) {
        self.channel = channel
        self.userID = userID
        let milliseconds = (expires.timeIntervalSince1970 * 1000).rounded(.down)
        // A date out of range, or not a number, must not trap.
        expiry = milliseconds > 0 ? Int64(exactly: milliseconds) ?? .max : 0
    }

    var text: String {
        let user = userID.map { Base64URL.encode($0.name.utf8) } ?? Self.anybody
        return [Self.version, String(expiry), Base64URL.encode(channel.utf8), user]
            .joined(separator: ".")
    }

    init?(text: some StringProtocol) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == Self.version, let expiry = Int64(parts[1]), expiry >= 0,
            let channel = Self.name(parts[2])
        else { return nil }
        self.expiry = expiry
        self.channel = channel
        if parts[3] == Self.anybody {
            userID = nil
        } else {
            guard let user = Self.name(parts[3]) else { return nil }
            userID = UserID(user)
        }
    }

    private static func name(_ text: some StringProtocol) -> String? {
        Base64URL.decode(text).flatMap { String(validating: $0, as: UTF8.self) }
    }

    func isOver(at now: Date) -> Bool { now.timeIntervalSince1970 * 1000 >= Double(expiry) }
}
