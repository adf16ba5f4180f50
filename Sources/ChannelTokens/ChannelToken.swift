public import BridgeEngine
internal import Crypto
public import FoundationEssentials

/// A text that lets one user, or anybody, into one channel until a point in time.
///
/// `mb1.EXPIRY.CHANNEL.USER.SIGNATURE`, of letters that a URL leaves alone: the expiry in milliseconds
/// since 1970, the names in base 64, a star for any user, and HMAC-SHA256 over all that stands before the
/// last full stop. Who holds a token can read it, and cannot change it.
public enum ChannelToken {
    /// Makes a token.
    ///
    /// - Parameters:
    ///   - userID: Who may join with it; `nil` for anybody.
    ///   - expires: When it ends, at most a millisecond earlier, by the clock of the machine that checks it.
    ///   - secret: One of those that ``SignedTokens`` checks with.
    public static func sign(
        channel: String, userID: UserID?, expires: Date, with secret: ChannelSecret
    ) -> String {
        let claims = Claims(channel: channel, userID: userID, expires: expires).text
        return claims + "." + Base64URL.encode(signature(of: claims, with: secret))
    }

    /// Makes a token that ends so long from now; zero and less make one that has ended.
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

    /// Reads a token, and believes nothing in it that is not signed.
    ///
    /// - Returns: `nil` where it is no token, or signed with none of the secrets.
    static func claims(of token: String, signedWith secrets: [ChannelSecret]) -> Claims? {
        guard let stop = token.utf8.lastIndex(of: UInt8(ascii: ".")),
            let signature = Base64URL.decode(token[token.utf8.index(after: stop)...])
        else { return nil }
        let claims = token[..<stop]
        let signed = Array(claims.utf8)
        // Every secret is tried, so that the time it takes does not tell which it was.
        let isSigned = secrets.reduce(false) { found, secret in
            HMAC<SHA256>.isValidAuthenticationCode(
                signature, authenticating: signed, using: secret.key) || found
        }
        return isSigned ? Claims(text: claims) : nil
    }
}
