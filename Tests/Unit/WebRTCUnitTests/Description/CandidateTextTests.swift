import TestSupport
import Testing

@testable import MediaBridgeWebRTC

/// Which candidates of peers are forwarded.
struct CandidateTextTests {
    @Test(arguments: [
        "candidate:1 1 udp 2113937151 10.0.0.1 5000 typ host",
        "candidate:1 1 UDP 1 10.0.0.1 5000 typ host generation 0 network-cost 999",
        "candidate:a+/9 2 uDp 0 ::1 9 typ host generation 0",
        "candidate:1 1 udp 1 203.0.113.1 65535 typ srflx raddr 0.0.0.0 rport 0",
        "candidate:1 1 udp 1 203.0.113.1 1 typ relay raddr ::1 rport 9 ufrag abcd",
    ]) func candidatesOfBrowsersAreUsable(text: String) { #expect(CandidateText.isUsable(text)) }

    @Test(arguments: [
        "", "candidate:", "candidate:1 1 udp 1 10.0.0.1 5000 typ",
        "1 1 udp 1 10.0.0.1 5000 typ host",
        "candidate:1 1 udp 1 0a1b.local 5000 typ host",
        "candidate:1 3 udp 1 10.0.0.1 5000 typ host",
        "candidate:1 1 sctp 1 10.0.0.1 5000 typ host",
        "candidate:1 1 udp -1 10.0.0.1 5000 typ host",
        "candidate:1 1 udp 4294967296 10.0.0.1 5000 typ host",
        "candidate:1 1 udp 1 10.0.0.1 65536 typ host", "candidate:1 1 udp 1 10.0.0.1 5 typ other",
        "candidate:1 1 udp 1 example.com 5 typ host", "candidate:1 1 udp 1 fe80::1%eth0 5 typ host",
        "candidate:1 1 udp 1 10.0.0.1 5 typ host x\r\na=y",
        "candidate:; 1 udp 1 10.0.0.1 5 typ host",
        "candidate:1 1 udp 1 10.0.0.1 5 typ host é", "candidate:1 1 udp 1 1234 5 typ host",
        "candidate:1 1 udp 1 10.0.0.1 5 typ host " + String(repeating: "x", count: 500),
    ]) func otherCandidatesAreNotUsable(text: String) { #expect(!CandidateText.isUsable(text)) }

    @Test(arguments: ["tcp", "TCP", "tCp", "ssltcp", "tcp-act", "tcp-pass", "tcp-so"])
    func noSpellingOfTCPIsUsable(transport: String) {
        for address in ["127.0.0.1", "::1", "10.0.0.1", "::ffff:10.0.0.1", "0a1b.local"] {
            for type in ["host", "srflx", "prflx", "relay"] {
                for role in ["", "active", "passive", "so", "ACTIVE"] {
                    let end = role.isEmpty ? "" : " tcptype \(role)"
                    let text = "candidate:1 1 \(transport) 1 \(address) 22 typ \(type)\(end)"
                    #expect(!CandidateText.isUsable(text))
                }
            }
        }
    }

    @Test func randomCandidatesAreHandled() {
        var random = SeededGenerator(seed: 7)
        let parts = [
            "candidate:1", "1", "udp", "10.0.0.1", "typ", "host", " ", "\u{0}", "é", "-", "::",
        ]
        for _ in 0..<5000 {
            let text = (0..<Int.random(in: 0...20, using: &random))
                .map { _ in parts.randomElement(using: &random) ?? "" }.joined(separator: " ")
            if CandidateText.isUsable(text) {
                #expect(text.utf8.allSatisfy { (0x20..<0x7f).contains($0) })
            }
        }
    }
}
