import TestSupport
import Testing

@testable import MediaBridgeWebRTC

struct FragmentAndLinkTests {
    @Test func aFragmentIsReadByItsMids() throws {
        let text = """
            a=ice-ufrag:EsAw\r
            a=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1\r
            m=audio 9 UDP/TLS/RTP/SAVPF 0\r
            a=mid:video0\r
            a=candidate:1 1 udp 2130706431 10.0.0.1 5000 typ host\r
            m=audio 9 RTP/AVP 0\r
            a=candidate:2 1 udp 1 10.0.0.1 5001 typ host\r
            a=end-of-candidates\r

            """
        let fragment = try TrickleFragment(parsing: text)
        #expect(fragment.userFragment == "EsAw")
        #expect(fragment.candidates.map(\.mid) == ["video0", nil])
        #expect(fragment.candidates[0].text.hasPrefix("candidate:1 1 udp"))
    }

    @Test(arguments: ["a=end-of-candidates", "a=ice-ufrag:EsAw\r\na=ice-pwd:x"])
    func aFragmentMayHaveNoCandidates(text: String) throws {
        #expect(try TrickleFragment(parsing: text).candidates.isEmpty)
    }

    @Test(
        arguments: [
            "", "hello", "a=candidate:1", "a=candidate:1 1 udp 1 \u{7} 5000 typ host",
            "a=candidate:" + String(repeating: "a b c d ", count: 200),
            "v=0\r\ns=-\r\n",
        ]) func invalidFragmentIsRefused(text: String) throws
    {
        let error = try #require(throws: PipelineError.self) {
            _ = try TrickleFragment(parsing: text)
        }
        #expect(error.code == .badDescription)
    }

    @Test func moreThanSixtyFourCandidatesAreRefused() throws {
        let line = "a=candidate:1 1 udp 1 10.0.0.1 5000 typ host\n"
        #expect(
            try TrickleFragment(parsing: String(repeating: line, count: 64)).candidates.count == 64)
        #expect(throws: PipelineError.self) {
            _ = try TrickleFragment(parsing: String(repeating: line, count: 65))
        }
    }

    private static let links = [
        ("stun://stun.example.net:3478", "<stun:stun.example.net:3478>; rel=\"ice-server\""),
        ("STUNS://a.b", "<stuns:a.b>; rel=\"ice-server\""),
        (
            "turn://1%3Ajoe:p%40s%22s%2F@host:3478?transport=tcp",
            "<turn:host:3478?transport=tcp>; rel=\"ice-server\"; username=\"1:joe\"; "
                + "credential=\"p@s\\\"s/\"; credential-type=\"password\""
        ),
    ]

    @Test(arguments: links) func linkDescribesAServer(server: String, link: String) {
        #expect(ICEServerLink.link(to: server) == link)
    }

    @Test(
        arguments: [
            "", "host", "http://host", "turn://", "stun://a b", "turn://u:%0A@host",
            "turn://a\"b:c@host", "stun://<>",
        ]) func invalidServerHasNoLink(server: String)
    {
        #expect(ICEServerLink.link(to: server) == nil)
    }
}
