internal import BridgeEngine
internal import FoundationEssentials

/// Why a server refused a token, as far as the token's text shows it.
struct TokenRefusal {
    let tokens: TokenPair
    let channel: String
    let now: Date

    /// The server does not accept the token.
    func serverError(_ reason: String) -> EngineError {
        error(tokens.server, "the Janus server", reason) { $0.isForServer }
    }

    /// The room does not accept the token.
    func roomError(_ reason: String) -> EngineError {
        error(tokens.room, "channel \(channel)", reason) { $0.isFor(room: channel) }
    }

    private func error(
        _ text: String?, _ place: String, _ reason: String, isForThis: (SignedToken) -> Bool
    ) -> EngineError {
        guard let text else {
            return EngineError(
                .tokenMissing, message: "\(place) requires a token: \(reason)",
                advice:
                    "pass a token made by JanusTokens (gst-bridge token) with the server's secret")
        }
        guard let token = SignedToken(text) else {
            return EngineError(
                .tokenForged, message: "\(place) refused the token: \(reason)",
                advice:
                    "a token from JanusTokens (gst-bridge token): two parts, separated by a space")
        }
        guard isForThis(token) else {
            return EngineError(
                .tokenNotForThis, message: "the token is not for \(place): \(reason)",
                advice: "make a token for this channel")
        }
        guard !token.isOver(at: now) else {
            return EngineError(
                .tokenExpired, message: "the token for \(place) has expired",
                advice: "make a new token; if it is new, compare the clocks of both machines")
        }
        return EngineError(
            .tokenForged,
            message: "the token for \(place) is not signed with the server's secret: \(reason)",
            advice: "compare the secret with token_auth_secret of janus.jcfg")
    }
}
