import BridgeEngine
import ChannelTokens
import FoundationEssentials
import TestSupport
import Testing

let noon = Date(timeIntervalSince1970: 1_900_000_000)

/// A secret that is the same in every run.
func secret(_ seed: UInt64) throws -> ChannelSecret {
    var generator = SeededGenerator(seed: seed)
    return try ChannelSecret((0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) })
}

extension SignedTokens {
    /// The error that a token ends with; `nil` where it lets the user in.
    func error(
        _ token: String?, channel: String = "room", userID: UserID = "anna"
    ) -> EngineError.Code? {
        do throws(EngineError) {
            try verify(ChannelRequest(channel: channel, token: token, userID: userID))
            return nil
        } catch {
            return error.code
        }
    }
}
