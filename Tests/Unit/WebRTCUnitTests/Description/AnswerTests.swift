import TestSupport
import Testing

@testable import MediaBridgeWebRTC

/// The processing of webrtcbin's answers.
struct AnswerTests {
    private static let offer = """
        v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r
        m=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:a\r\na=rtpmap:111 opus/48000/2\r
        m=video 9 UDP/TLS/RTP/SAVPF 96\r\na=mid:b\r\na=rtpmap:96 VP8/90000\r
        m=text 9 UDP/TLS/RTP/SAVPF 98\r\na=mid:c\r\n
        """

    @Test func eachLineOfTheOfferIsAnsweredInItsPlace() throws {
        let offer = try SessionDescription(Self.offer)
        let answer = offer.completing(
            answer: "v=0\r\na=group:BUNDLE b\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\na=mid:b\r\n"
                + "a=ice-ufrag:abcd\r\na=setup:active\r\n",
            lines: [1])
        let read = try SessionDescription(answer)
        #expect(read.media.map(\.mid) == ["a", "b", "c"])
        #expect(read.media.map(\.port) == [0, 9, 0])
        #expect(read.media.map(\.isRefused) == [true, false, true])
        // aiortc requires them in each section.
        #expect(read.media.map { $0.value(of: "ice-ufrag") } == ["abcd", "abcd", "abcd"])
        #expect(read.media.map { $0.value(of: "setup") } == ["active", "active", "active"])
        #expect(read.media.allSatisfy { $0.value(of: "rtcp-mux") != nil || !$0.isRefused })
        #expect(read.value(of: "group", in: read.media[0]) == "BUNDLE b")
    }

    @Test(arguments: [
        ("a=rtpmap:102 H264/90000\r\n", "a=fmtp:102 packetization-mode=1;profile-level-id=42e01f"),
        (
            "a=rtpmap:102 H264/90000\r\na=fmtp:102 profile-level-id=640028\r\n",
            "a=fmtp:102 profile-level-id=640028;packetization-mode=1"
        ),
    ]) func h264IsDescribedInFull(lines: String, expected: String) {
        let text = SessionDescription.interoperable(
            "v=0\r\nm=video 9 UDP/TLS/RTP/SAVPF 102\r\n" + lines)
        #expect(text.contains(expected), "\(text)")
        #expect(text.contains("level-asymmetry-allowed=1"))
        #expect(text.split(separator: "a=fmtp").count == 2)
    }

    @Test func bundledMediaLineIsNotRefused() throws {
        let text = SessionDescription.interoperable(
            "v=0\r\nm=video 0 UDP/TLS/RTP/SAVPF 96\r\na=bundle-only\r\na=mid:0\r\n"
                + "m=audio 0 UDP/TLS/RTP/SAVPF 111\r\na=mid:1\r\n")
        let read = try SessionDescription(text)
        #expect(read.media.map(\.port) == [9, 0])
        #expect(!text.contains("bundle-only"))
    }
}
