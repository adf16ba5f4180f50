public import BridgeEngine
package import FoundationEssentials
internal import GStreamerKit

/// Creates the tokens with which users join channels of a Janus server.
///
/// A token consists of two Janus signed tokens, separated by a space: one for the server and its
/// VideoRoom plugin, one for the room. The server verifies both with its `token_auth_secret`; the
/// room must have been created with `signed_tokens`. These tokens name no user: any client that has
/// one can join under any ID. Thread: any.
///
/// ```swift
/// let tokens = try JanusTokens(secret: "as in janus.jcfg")
/// let token = try tokens.token(forChannel: "room", validFor: .seconds(3600))
/// ```
public struct JanusTokens: Sendable {
    private let secret: Secret

    /// Creates a token generator.
    ///
    /// - Parameter secret: The server's `token_auth_secret`.
    /// - Throws: `EngineError` with the code `invalidArgument` if it is empty.
    public init(secret: String) throws(EngineError) {
        guard !secret.isEmpty else {
            throw EngineError(
                .invalidArgument, message: "the secret (token_auth_secret) is empty")
        }
        self.secret = Secret(text: secret)
    }

    /// Returns a token that is valid from now on.
    ///
    /// - Parameters:
    ///   - channel: The channel that the token is for.
    ///   - duration: How long the token is valid, by the machine's clock; in whole seconds, at most 100 years.
    /// - Throws: `EngineError` with the code `invalidArgument` for a channel name that Janus tokens
    ///   cannot contain: one with a comma, a colon or a control character, an empty one, or one of more than 90 bytes.
    public func token(
        forChannel channel: String, validFor duration: Duration
    ) throws(EngineError) -> String {
        try token(forChannel: channel, validFor: duration, from: Date())
    }

    /// Returns a token that is valid from a given time on.
    package func token(
        forChannel channel: String, validFor duration: Duration, from start: Date
    ) throws(EngineError) -> String {
        guard !channel.isEmpty, channel.utf8.count <= 90,
            !channel.utf8.contains(where: { $0 == 0x2c || $0 == 0x3a || $0 < 0x20 })
        else {
            throw EngineError(
                .invalidArgument, message: "a Janus token cannot name channel \(channel)",
                advice: "a name of 1 to 90 bytes without commas, colons and control characters")
        }
        let seconds = min(max(0, duration.components.seconds), 3_155_760_000)
        let expiry = Int64(start.timeIntervalSince1970) + seconds
        let core = sign("\(expiry),\(SignedToken.coreRealm),\(SignedToken.roomRealm)")
        let room = sign("\(expiry),\(SignedToken.roomRealm),room=\(channel)")
        return "\(core) \(room)"
    }

    private func sign(_ text: String) -> String {
        "\(text):\(Data(MessageDigest.hmacSHA1(text, key: secret.text)).base64EncodedString())"
    }
}

/// A secret that neither `print` nor `dump` shows.
private struct Secret: Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    let text: String

    var description: String { "hidden" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: []) }
}

// MARK: - Reading tokens

/// The content of a signed token of Janus. Only the server verifies the signature.
struct SignedToken: Sendable {
    static let coreRealm = "janus"
    static let roomRealm = "janus.plugin.videoroom"

    /// Seconds since 1970.
    let expiry: Int64
    let realm: String
    let descriptions: [String]

    /// - Returns: `nil` if the text is not a signed token.
    init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[1].isEmpty else { return nil }
        let data = parts[0].split(separator: ",", omittingEmptySubsequences: false)
        guard data.count >= 2, let expiry = Int64(data[0]) else { return nil }
        self.expiry = expiry
        realm = String(data[1])
        descriptions = data.dropFirst(2).map(String.init)
    }

    /// Whether the token is for the server and its VideoRoom plugin.
    var isForServer: Bool {
        realm == Self.coreRealm && descriptions.contains(Self.roomRealm)
    }

    /// Whether the token is for a room.
    func isFor(room: String) -> Bool {
        realm == Self.roomRealm && descriptions.contains("room=\(room)")
    }

    /// Whether the token has expired.
    func hasExpired(at now: Date) -> Bool { Int64(now.timeIntervalSince1970) > expiry }
}

/// The two tokens of a request to join, for the server and for the room. A space separates them. A
/// text without a space is used as both.
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

    /// How long both tokens are still valid; `nil` if neither has an expiry time.
    func lifetime(from now: Date) -> Duration? {
        let expiries = [server, room].compactMap { $0.flatMap(SignedToken.init)?.expiry }
        guard let first = expiries.min() else { return nil }
        let left = Double(first) - now.timeIntervalSince1970
        return .milliseconds(Int64(min(max(0, left), 3_155_760_000) * 1000))
    }
}
