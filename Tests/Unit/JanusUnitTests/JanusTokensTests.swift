import Foundation
import MediaBridgeJanus
import Testing

/// Tokens that Janus accepts.
struct JanusTokensTests {
    @Test func tokensMatchJanusTokens() throws {
        let tokens = try JanusTokens(secret: "key")
        let token = try tokens.token(
            forChannel: "hall", validFor: .seconds(10),
            from: Date(timeIntervalSince1970: 1_000_000))
        // Computed with openssl dgst -sha1 -hmac key -binary | base64.
        #expect(
            token == "1000010,janus,janus.plugin.videoroom:pN+Y6PTu4oU0xheeSWo2kcjeA/c= "
                + "1000010,janus.plugin.videoroom,room=hall:8yHlopmVvwLpbgPjHGpgRT70YRI=")
        for name in ["", "a,b", "a:b", String(repeating: "x", count: 91)] {
            #expect(throws: EngineError.self) {
                _ = try tokens.token(forChannel: name, validFor: .seconds(1))
            }
        }
    }
}
