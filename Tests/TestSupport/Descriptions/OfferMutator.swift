/// Corrupts session descriptions, in the same way for the same seed.
public struct OfferMutator {
    private var random: SeededGenerator
    private static let words = [
        "", "0", "-1", "1", "15", "127", "128", "255", "65535", "65536", "4294967295", "4294967296",
        "99999999999999999999", "%s%n", "\u{0}", "\u{1}", "é", "\u{2028}", "a", "a b", "\"", ";",
        "=",
        "(string)x", "x,y=(int)1", "*", "/", "..", "true", "NaN",
        String(repeating: "x", count: 3000),
        "127.0.0.1", "::1", "no.such.name.invalid",
    ]
    private static let lines = [
        "m=video 9 UDP/TLS/RTP/SAVPF 96", "m=video 0 UDP/TLS/RTP/SAVPF 96",
        "m=audio 9 UDP/TLS/RTP/SAVPF 0 8", "m=audio 9 RTP/AVP 0", "m=text 9 UDP/TLS/RTP/SAVPF 96",
        "m=application 9 UDP/DTLS/SCTP webrtc-datachannel",
        "m=video 9/2 UDP/TLS/RTP/SAVPF 96 96 96",
        "m=image 9 udptl t38", "m=", "a=", "a", "=", "v=0", "c=IN IP6 ::", "b=AS:0", "b=TIAS:-1",
        "a=mid:0", "a=mid:1", "a=mid:", "a=mid:x y", "a=group:BUNDLE", "a=group:BUNDLE 0 0 0 1 2 3",
        "a=group:BUNDLE 9", "a=group:LS 0 1", "a=recvonly", "a=sendonly", "a=sendrecv",
        "a=inactive",
        "a=bundle-only", "a=ice-lite", "a=ice-options:renomination", "a=ice-ufrag:x",
        "a=ice-ufrag:abcd", "a=ice-pwd:short", "a=ice-pwd:0123456789abcdef01234567",
        "a=setup:passive", "a=setup:active", "a=setup:holdconn", "a=fingerprint:md5 00:11",
        "a=fingerprint:sha-256 zz", "a=tls-id:1", "a=rtcp-mux", "a=rtcp-mux-only", "a=rtcp-rsize",
        "a=rtcp:1 IN IP4 127.0.0.1", "a=rtpmap:96 VP8/90000", "a=rtpmap:96 H264/90000",
        "a=rtpmap:96 opus/48000/2", "a=rtpmap:96 H264/0", "a=rtpmap:96 H264/8000",
        "a=rtpmap:300 VP8/90000", "a=rtpmap:0 opus/48000/2", "a=rtpmap:97 rtx/90000",
        "a=rtpmap:96 red/90000", "a=rtpmap:96 ulpfec/90000", "a=fmtp:97 apt=97", "a=fmtp:97 apt=96",
        "a=fmtp:96 packetization-mode=0", "a=fmtp:96 packetization-mode=1;profile-level-id=zzzzzz",
        "a=fmtp:96 sprop-parameter-sets=AAAA,====", "a=fmtp:111 maxplaybackrate=0;stereo=9",
        "a=rtcp-fb:* nack", "a=rtcp-fb:96 nack pli", "a=rtcp-fb:96 ccm fir",
        "a=rtcp-fb:96 transport-cc",
        "a=extmap:1 urn:ietf:params:rtp-hdrext:sdes:mid", "a=extmap:0 x", "a=extmap:15 x",
        "a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01",
        "a=extmap:4/recvonly urn:ietf:params:rtp-hdrext:encrypt x", "a=extmap-allow-mixed",
        "a=ssrc:1 cname:a", "a=ssrc:0 cname:a", "a=ssrc:4294967296 cname:a", "a=ssrc-group:FID 1 1",
        "a=ssrc-group:FID 1", "a=ssrc-group:SIM 1 2 3", "a=ssrc-group:FID 1 2", "a=msid:a b",
        "a=rid:0 send", "a=rid:0 recv pt=96", "a=simulcast:send 0;1;2", "a=simulcast:recv 0",
        "a=candidate:1 1 udp 1 127.0.0.1 9 typ host",
        "a=candidate:1 1 tcp 1 127.0.0.1 9 typ host tcptype active",
        "a=candidate:1 1 udp 99999999999 127.0.0.1 9 typ host",
        "a=candidate:1 1 udp 1 ::1 9 typ relay raddr x",
        "a=candidate:", "a=end-of-candidates", "a=sctp-port:0", "a=sctp-port:5000",
        "a=max-message-size:0", "a=max-message-size:99999999999999999999",
        "a=crypto:1 AES_CM_128 inline:x",
    ]

    public init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// Returns one of the descriptions with one to eight faults.
    public mutating func broken(_ offers: [[String]]) -> [UInt8] {
        var lines = pick(offers)
        for _ in 0..<Int.random(in: 1...8, using: &random) where !lines.isEmpty {
            breakLines(&lines, offers)
        }
        var bytes = Array((lines.joined(separator: pick(Self.ends)) + "\r\n").utf8)
        // Rarely, because the first check rejects most of these.
        switch Int.random(in: 0..<16, using: &random) {
        case 0: bytes.removeLast(Int.random(in: 0...bytes.count, using: &random))
        case 1:
            for _ in 0..<4 {
                bytes[place(bytes.count)] = UInt8.random(in: 0...255, using: &random)
            }
        default: break
        }
        return bytes
    }

    private static let ends = ["\r\n", "\r\n", "\r\n", "\r\n", "\n", "\r\n\r\n"]

    private mutating func breakLines(_ lines: inout [String], _ offers: [[String]]) {
        let at = place(lines.count)
        switch Int.random(in: 0..<12, using: &random) {
        case 0: lines.remove(at: at)
        case 1: lines.insert(lines[place(lines.count)], at: at)
        case 2: lines.swapAt(at, place(lines.count))
        case 3, 4: lines.insert(pick(Self.lines), at: at)
        case 5: lines[at] = pick(Self.lines)
        case 6: lines[at] = replacingPart(of: lines[at])
        case 7: lines.insert(pick(pick(offers)), at: at)
        case 8: removeBlock(at, &lines)
        case 9: lines.append(contentsOf: section(of: pick(offers)))
        case 10: change(&lines, prefix: pick(["m=", "a=mid", "a=rtpmap", "a=setup", "a=fmtp"]))
        default: lines += [String](repeating: pick(Self.lines), count: pick([3, 70, 2100]))
        }
    }

    /// Replaces one of the parts between spaces, colons, slashes and other separators.
    private mutating func replacingPart(of line: String) -> String {
        let separators: Set<Character> = [" ", ":", "/", ";", "="]
        var parts: [String] = [""]
        for character in line {
            if separators.contains(character) {
                parts += [String(character), ""]
            } else {
                parts[parts.count - 1].append(character)
            }
        }
        parts[2 * place((parts.count + 1) / 2)] = pick(Self.words)
        return parts.joined()
    }

    private mutating func removeBlock(_ at: Int, _ lines: inout [String]) {
        lines.removeSubrange(at..<min(lines.count, at + Int.random(in: 1...40, using: &random)))
    }

    /// An m-line and the lines of its section.
    private mutating func section(of offer: [String]) -> ArraySlice<String> {
        let starts = offer.indices.filter { offer[$0].hasPrefix("m=") }
        let start = pick(starts)
        return offer[start..<(starts.first { $0 > start } ?? offer.count)]
    }

    /// Corrupts one of the lines that begin with `prefix`.
    private mutating func change(_ lines: inout [String], prefix: String) {
        let found = lines.indices.filter { lines[$0].hasPrefix(prefix) }
        guard !found.isEmpty else { return }
        let at = pick(found)
        lines[at] = replacingPart(of: lines[at])
    }

    private mutating func place(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    private mutating func pick<Element>(_ all: [Element]) -> Element { all[place(all.count)] }
}
