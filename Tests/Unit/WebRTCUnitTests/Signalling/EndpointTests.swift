import MediaBridgeWebRTC
import Testing

/// The addresses and tokens of WHIP and WHEP endpoints.
struct EndpointTests {
    @Test(arguments: [
        "", "whip", "ftp://host/whip", "http://", "rtsp://host", "https://user:secret@host/whip",
    ])
    func invalidEndpointIsRefused(text: String) {
        #expect(throws: PipelineError.self) { _ = try SignallingClient(text) }
    }

    @Test(arguments: ["", "a b", "a\nb", "ä"]) func aTokenMustFitAHeader(token: String) throws {
        let error = try #require(throws: PipelineError.self) {
            _ = try SignallingClient("http://host/whip", token: token)
        }
        #expect(error.code == .badValue)
    }
}
