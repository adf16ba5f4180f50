import MediaBasics
import Testing

@testable import MediaBridgeJanus

/// The text forms of addresses, session descriptions and messages.
struct SignallingTextTests {
    @Test(arguments: [
        ("ws://127.0.0.1:8188/janus", "127.0.0.1", 8188, "/janus"),
        ("wss://example.org", "example.org", 443, "/"), ("ws://host/?a=b#c", "host", 80, "/?a=b"),
        ("WS://[::1]:99/a", "::1", 99, "/a"), ("ws://[::1]", "::1", 80, "/"),
        ("wss://host?a", "host", 443, "/?a"),
    ])
    func addressesAreParsed(text: String, host: String, port: Int, path: String) throws {
        let address = try #require(ServerAddress(text))
        #expect(address.host == host)
        #expect(address.port == port)
        #expect(address.path == path)
    }

    @Test(arguments: [
        "", "ws://", "http://host", "ws://host:0", "ws://host:65536", "ws://host:x", "ws://host:",
        "ws://[::1", "ws://[::1]x", "ws://user:password@host", "ws://ho st", "ws://host/\r\nX: y",
        "ws://:80", "ws://höst",
    ])
    func invalidAddressIsRefused(text: String) { #expect(ServerAddress(text) == nil) }

    @Test func silentServerIsDetectedWithinThreeSeconds() {
        let limits = WebSocketLimits()
        #expect(limits.silence + limits.pingInterval < .seconds(3))
        #expect(JanusTransport.Configuration().silenceTimeout == limits.silence.asDefaultDeadline)
    }

    @Test func unsupportedFeedbackIsRemoved() {
        let text =
            "m=video 9 X 96\r\na=rtcp-fb:96 ccm fir\r\na=rtcp-fb:96 nack pli\r\na=rtcp-fb:* ccm fir\r\n"
            + "a=rtcp-fb:96 transport-cc\r\na=extmap:3 http://www.ietf.org/id/"
            + "draft-holmer-rmcat-transport-wide-cc-extensions-01\r\na=mid:v\r\n"
        #expect(
            DescriptionText.withoutUnusedFeedback(text)
                == "m=video 9 X 96\r\na=rtcp-fb:96 nack pli\r\na=mid:v\r\n")
    }

    @Test(arguments: [
        "", "{", "[]", "{}", "null", #"{"janus":1}"#, #"{"janus":"event","sender":"x"}"#,
        #"{"janus":"event","sender":99999999999999999999}"#,
        String(repeating: "[", count: 100_000), "\u{0}",
    ])
    func invalidMessagesAreIgnored(text: String) {
        #expect(JanusMessage([UInt8](text.utf8)) == nil)
    }
}
