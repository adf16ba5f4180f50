public import BridgeEngine
internal import Crypto
public import FoundationEssentials

/// A text that admits one user, or any user, to one channel until it expires.
///
/// The format is `mb1.EXPIRY.CHANNEL.USER.SIGNATURE`, in URL-safe characters: the expiry in
/// milliseconds since 1970, the names in base 64, an asterisk for any user, and the HMAC-SHA256 of
/// everything before the last full stop. A token's holder can read it but not change it.
public enum ChannelToken {
    /// Creates a token that expires at a point in time.
    ///
    /// - Parameters:
    ///   - channel: The channel that may be joined.
    ///   - userID: The user who may join; `nil` for any user.
    ///   - expires: The time of expiry by the clock of the machine that checks the token. It is
    ///     rounded down to a whole millisecond.
    ///   - secret: One of the secrets with which ``SignedTokens`` checks.
    /// - Returns: The token.
    public static func sign(
        channel: String, userID: UserID?, expires: Date, with secret: ChannelSecret
    ) -> String {
        let claims = Claims(channel: channel, userID: userID, expires: expires).text
        return claims + "." + Base64URL.encode(signature(of: claims, with: secret))
    }

    /// Creates a token that expires after this duration; for zero or less it has expired already.
    public static func sign(
        channel: String, userID: UserID?, validFor duration: Duration, with secret: ChannelSecret
    ) -> String {
        let seconds = duration / .seconds(1)
        return sign(
            channel: channel, userID: userID, expires: Date(timeIntervalSinceNow: seconds),
            with: secret)
    }

    private static func signature(
        of claims: String, with secret: ChannelSecret
    ) -> HMAC<SHA256>.MAC {
        HMAC<SHA256>.authenticationCode(for: Array(claims.utf8), using: secret.key)
    }

    /// Returns the contents of a token if its signature is valid.
    ///
    /// - Returns: `nil` if the text is no token, or is signed with none of the secrets.
    static func claims(of token: String, signedWith secrets: [ChannelSecret]) -> Claims? {
        guard let stop = token.utf8.lastIndex(of: UInt8(ascii: ".")),
            let signature = Base64URL.decode(token[token.utf8.index(after: stop)...])
        else { return nil }
        let claims = token[..<stop]
        let signed = Array(claims.utf8)
        // Always tries every secret, so that the time taken does not reveal which one matched.
        let isSigned = secrets.reduce(false) { found, secret in
            HMAC<SHA256>.isValidAuthenticationCode(
                signature, authenticating: signed, using: secret.key) || found
        }
        return isSigned ? Claims(text: claims) : nil
    }
}
