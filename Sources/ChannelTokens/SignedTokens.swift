public import BridgeEngine
public import FoundationEssentials

/// Admits users to a channel who present a valid ``ChannelToken``.
///
/// ```swift
/// let secret = ChannelSecret.random()
/// LoopbackNetwork.shared.demand(SignedTokens(secret), forChannel: "room")
/// let token = ChannelToken.sign(
///     channel: "room", userID: "anna", validFor: .seconds(3600), with: secret)
/// ```
public struct SignedTokens: TokenVerifier {
    private let secrets: [ChannelSecret]
    private let now: @Sendable () -> Date

    /// Creates a verifier.
    ///
    /// - Parameters:
    ///   - secret: The secret with which tokens are signed.
    ///   - older: Previous secrets whose tokens are still valid, for example while a secret is
    ///     being replaced.
    ///   - now: Returns the current time; by default the machine's clock.
    public init(
        _ secret: ChannelSecret, older: [ChannelSecret] = [],
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        secrets = [secret] + older
        self.now = now
    }

    /// Checks the token of a request.
    ///
    /// - Throws: `EngineError` with one of these codes, checked in this order: `tokenMissing`;
    ///   `tokenForged` if it is no token, was changed, or is signed with another secret;
    ///   `tokenNotForThis` if it is for another channel or user; `tokenExpired`.
    public func verify(_ request: ChannelRequest) throws(EngineError) {
        guard let token = request.token, !token.isEmpty else {
            throw EngineError(
                .tokenMissing, message: "channel \(request.channel) demands a token",
                advice: "pass one that is signed with the channel's secret")
        }
        guard let claims = ChannelToken.claims(of: token, signedWith: secrets) else {
            throw EngineError(
                .tokenForged,
                message: "the token for channel \(request.channel) is not signed with its secret")
        }
        guard claims.channel == request.channel else {
            throw EngineError(
                .tokenNotForThis,
                message: "the token is for channel \(claims.channel), not \(request.channel)")
        }
        guard claims.userID == nil || claims.userID == request.userID else {
            throw EngineError(
                .tokenNotForThis,
                message: "the token is for another user than \(request.userID)")
        }
        guard !claims.isOver(at: now()) else {
            throw EngineError(
                .tokenExpired, message: "the token for channel \(request.channel) has expired",
                advice: "sign a new one; if it is new, compare the clocks of both machines")
        }
    }
    /// Returns how long the token of a request is valid from now on; `nil` if it is not valid at all.
    public func lifetime(of request: ChannelRequest) -> Duration? {
        guard let token = request.token,
            let claims = ChannelToken.claims(of: token, signedWith: secrets)
        else { return nil }
        let now = now().timeIntervalSince1970 * 1000
        // A token without an end is as good as one that ends in a hundred years.
        return .milliseconds(min(max(0, Double(claims.expiry) - now), 3_155_760_000_000))
    }
}
