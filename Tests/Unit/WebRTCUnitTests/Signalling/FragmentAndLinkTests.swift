import MediaBridgeWebRTC
import TestSupport
import Testing

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
        #expect(fragment.credentials?.userFragment == "EsAw")
        #expect(fragment.candidates.map(\.mid) == ["video0", nil])
        #expect(fragment.candidates[0].text.hasPrefix("candidate:1 1 udp"))
        #expect(fragment.isLast)
    }

    @Test func aFragmentComesBackFromItsText() throws {
        let candidates = [
            PeerConnection.Candidate("candidate:1 1 udp 1 10.0.0.1 5000 typ host", mid: "0"),
            PeerConnection.Candidate("candidate:2 1 udp 1 10.0.0.1 5001 typ host", mid: "1"),
        ]
        let fragment = TrickleFragment(
            credentials: TrickleFragment.Credentials(of: Offers.offer()), candidates: candidates,
            isLast: true)
        #expect(try TrickleFragment(parsing: fragment.text) == fragment)
    }

    @Test(
        arguments: [
            "", "hello", "a=candidate:1", "a=candidate:1 1 udp 1 \u{7} 5000 typ host",
            "a=candidate:" + String(repeating: "a b c d ", count: 200),
            "v=0\r\ns=-\r\n",
        ]) func invalidFragmentIsRefused(text: String) throws
    {
        let error = try #require(throws: PeerError.self) {
            _ = try TrickleFragment(parsing: text)
        }
        #expect(error.code == .badDescription)
    }

    @Test func moreThanSixtyFourCandidatesAreRefused() throws {
        let line = "a=candidate:1 1 udp 1 10.0.0.1 5000 typ host\n"
        #expect(
            try TrickleFragment(parsing: String(repeating: line, count: 64)).candidates.count == 64)
        #expect(throws: PeerError.self) {
            _ = try TrickleFragment(parsing: String(repeating: line, count: 65))
        }
    }

    @Test(
        arguments: [
            "stun://stun.example.net:3478", "stuns://a.b", "turn://u:p@host:3478?transport=tcp",
            "turns://user%3Aname:p%40ss%2F@host", "turn://1700000000%3Ajoe:a%2Bb%3D%3D@10.0.0.1",
        ]) func serversComeBackFromTheirLinks(server: String) throws
    {
        let link = try #require(ICEServerLink.link(to: server))
        #expect(link.contains("rel=\"ice-server\""))
        let others = "<https://example.net>; rel=\"help, me\"; title=\"a;b\\\"\", \(link), <x:y>"
        #expect(ICEServerLink.servers(in: [others]) == [server])
    }

    @Test(
        arguments: [
            "", "host", "http://host", "turn://", "stun://a b", "turn://u:%0A@host",
            "turn://a\"b:c@host", "stun://<>",
        ]) func invalidServerHasNoLink(server: String)
    {
        #expect(ICEServerLink.link(to: server) == nil)
    }

    @Test(
        arguments: [
            "", "<", "<>", "<turn:>; rel=ice-server", "<stun:a", "<stun:a@b>; rel=ice-server",
            "<stun:a>", "<stun:a>; rel=help", "<stun:a b>; rel=ice-server", ";;;,,,\"",
            "<turn:a>; rel=\"ice-server; username=\"", "<javascript:a>; rel=ice-server",
        ]) func linksThatAreNoServersAreLeftOut(value: String)
    {
        #expect(ICEServerLink.servers(in: [value]).isEmpty)
    }

    @Test func atMostSixteenServersAreTaken() {
        let values = (0..<40).map { "<stun:host\($0)>; rel=\"ice-server\"" }
        #expect(ICEServerLink.servers(in: values).count == 16)
        #expect(ICEServerLink.servers(in: [values.joined(separator: ", ")]).count == 16)
    }
}
