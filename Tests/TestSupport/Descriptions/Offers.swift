/// Session descriptions for tests in which no media flows.
public enum Offers {
    /// An offer with the lines that every WebRTC offer has.
    public static func offer(
        direction: String = "recvonly", media: [String] = ["video", "audio"],
        userFragment: String = "abcd"
    ) -> String {
        var lines = [
            "v=0", "o=- 1 2 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0 1",
        ]
        for (index, kind) in media.enumerated() {
            lines += [
                "m=\(kind) 9 UDP/TLS/RTP/SAVPF 96", "c=IN IP4 0.0.0.0", "a=mid:\(index)",
                "a=ice-ufrag:\(userFragment)", "a=ice-pwd:0123456789abcdef01234567",
                "a=fingerprint:sha-256 00:11", "a=setup:actpass", "a=\(direction)",
                "a=rtpmap:96 \(kind == "video" ? "VP8/90000" : "opus/48000/2")",
            ]
        }
        return lines.joined(separator: "\r\n") + "\r\n"
    }

    public static let answer = "v=0\r\no=- 2 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n"
}
