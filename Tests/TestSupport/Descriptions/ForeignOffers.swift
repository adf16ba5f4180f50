/// Unmodified session descriptions of third-party peers.
public enum ForeignOffers {
    public static let viewers = [chromiumViewer, aiortcViewer]
    public static let senders = [chromiumSender, aiortcSender]

    /// The lines of a description, without the CR LF that ends each.
    public static func lines(_ text: String) -> [String] {
        text.split(separator: "\n").map(String.init)
    }

    /// aiortc's offer to receive.
    public static let aiortcViewer = lines(
        #"""
        v=0
        o=- 4004537784 4004537784 IN IP4 0.0.0.0
        s=-
        t=0 0
        a=group:BUNDLE 0 1
        a=msid-semantic:WMS *
        m=video 49089 UDP/TLS/RTP/SAVPF 97 98 99 100 101 102
        c=IN IP4 127.0.0.1
        a=recvonly
        a=extmap:1 urn:ietf:params:rtp-hdrext:sdes:mid
        a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time
        a=mid:0
        a=msid:9837bff9-1de6-4062-9a3a-5be86fed78a0 3b028575-a4f5-482c-9b96-692ec248e9e0
        a=rtcp:9 IN IP4 0.0.0.0
        a=rtcp-mux
        a=ssrc-group:FID 2768213311 1998817065
        a=ssrc:2768213311 cname:7b7225ea-18fc-4ec5-907e-0a5887ee0939
        a=ssrc:1998817065 cname:7b7225ea-18fc-4ec5-907e-0a5887ee0939
        a=rtpmap:97 VP8/90000
        a=rtcp-fb:97 nack
        a=rtcp-fb:97 nack pli
        a=rtcp-fb:97 goog-remb
        a=rtpmap:98 rtx/90000
        a=fmtp:98 apt=97
        a=rtpmap:99 H264/90000
        a=rtcp-fb:99 nack
        a=rtcp-fb:99 nack pli
        a=rtcp-fb:99 goog-remb
        a=fmtp:99 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42001f
        a=rtpmap:100 rtx/90000
        a=fmtp:100 apt=99
        a=rtpmap:101 H264/90000
        a=rtcp-fb:101 nack
        a=rtcp-fb:101 nack pli
        a=rtcp-fb:101 goog-remb
        a=fmtp:101 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f
        a=rtpmap:102 rtx/90000
        a=fmtp:102 apt=101
        a=candidate:f957a2332b1715da3b0ef8ba684454eb 1 udp 2130706431 127.0.0.1 49089 typ host
        a=candidate:d0bcf3d9c29a2bc887618212a1623bfa 1 udp 2130706431 ::1 53990 typ host
        a=end-of-candidates
        a=ice-ufrag:ob7j
        a=ice-pwd:sqJKGsD71UcExYmxZh9jPC
        a=fingerprint:sha-256 C7:7D:06:C3:B2:7A:C2:D4:A0:06:37:40:CE:BB:C2:F2:BF:57:A0:15:7E:A4:92:20:AD:19:E0:A5:FB:5B:9F:0F
        a=setup:actpass
        m=audio 46481 UDP/TLS/RTP/SAVPF 96 0 8
        c=IN IP4 127.0.0.1
        a=recvonly
        a=extmap:1 urn:ietf:params:rtp-hdrext:sdes:mid
        a=extmap:2 urn:ietf:params:rtp-hdrext:ssrc-audio-level
        a=mid:1
        a=msid:9837bff9-1de6-4062-9a3a-5be86fed78a0 c627b567-05d0-48b6-b852-6513775f32cc
        a=rtcp:9 IN IP4 0.0.0.0
        a=rtcp-mux
        a=ssrc:3075452121 cname:7b7225ea-18fc-4ec5-907e-0a5887ee0939
        a=rtpmap:96 opus/48000/2
        a=rtpmap:0 PCMU/8000
        a=rtpmap:8 PCMA/8000
        a=candidate:f957a2332b1715da3b0ef8ba684454eb 1 udp 2130706431 127.0.0.1 46481 typ host
        a=candidate:d0bcf3d9c29a2bc887618212a1623bfa 1 udp 2130706431 ::1 47227 typ host
        a=end-of-candidates
        a=ice-ufrag:lL2y
        a=ice-pwd:Bwog1Qx8trZJpJu1gfLo7U
        a=fingerprint:sha-256 C7:7D:06:C3:B2:7A:C2:D4:A0:06:37:40:CE:BB:C2:F2:BF:57:A0:15:7E:A4:92:20:AD:19:E0:A5:FB:5B:9F:0F
        a=setup:actpass
        """#)

    /// aiortc's offer to send.
    public static let aiortcSender = lines(
        #"""
        v=0
        o=- 4004537784 4004537784 IN IP4 0.0.0.0
        s=-
        t=0 0
        a=group:BUNDLE 0 1
        a=msid-semantic:WMS *
        m=video 59652 UDP/TLS/RTP/SAVPF 97 98 99 100 101 102
        c=IN IP4 127.0.0.1
        a=sendonly
        a=extmap:1 urn:ietf:params:rtp-hdrext:sdes:mid
        a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time
        a=mid:0
        a=msid:bc2e632a-c21a-440e-b4e3-18a2dd4cb071 15d6944e-68fd-4fb6-b99a-0b412ed313c9
        a=rtcp:9 IN IP4 0.0.0.0
        a=rtcp-mux
        a=ssrc-group:FID 3238290680 2986003611
        a=ssrc:3238290680 cname:a1dd5a9e-162c-4fef-b70b-6c28b0df637d
        a=ssrc:2986003611 cname:a1dd5a9e-162c-4fef-b70b-6c28b0df637d
        a=rtpmap:97 VP8/90000
        a=rtcp-fb:97 nack
        a=rtcp-fb:97 nack pli
        a=rtcp-fb:97 goog-remb
        a=rtpmap:98 rtx/90000
        a=fmtp:98 apt=97
        a=rtpmap:99 H264/90000
        a=rtcp-fb:99 nack
        a=rtcp-fb:99 nack pli
        a=rtcp-fb:99 goog-remb
        a=fmtp:99 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42001f
        a=rtpmap:100 rtx/90000
        a=fmtp:100 apt=99
        a=rtpmap:101 H264/90000
        a=rtcp-fb:101 nack
        a=rtcp-fb:101 nack pli
        a=rtcp-fb:101 goog-remb
        a=fmtp:101 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f
        a=rtpmap:102 rtx/90000
        a=fmtp:102 apt=101
        a=candidate:f957a2332b1715da3b0ef8ba684454eb 1 udp 2130706431 127.0.0.1 59652 typ host
        a=candidate:d0bcf3d9c29a2bc887618212a1623bfa 1 udp 2130706431 ::1 35680 typ host
        a=end-of-candidates
        a=ice-ufrag:Dknb
        a=ice-pwd:Bnkoh7bGY50DH5a58fR9BN
        a=fingerprint:sha-256 98:03:B6:44:77:09:4A:4B:8A:3C:4F:88:BA:58:57:7B:7B:94:06:71:0C:30:72:1B:E7:EC:A7:E0:71:32:64:A3
        a=setup:actpass
        m=audio 52731 UDP/TLS/RTP/SAVPF 96 0 8
        c=IN IP4 127.0.0.1
        a=sendonly
        a=extmap:1 urn:ietf:params:rtp-hdrext:sdes:mid
        a=extmap:2 urn:ietf:params:rtp-hdrext:ssrc-audio-level
        a=mid:1
        a=msid:bc2e632a-c21a-440e-b4e3-18a2dd4cb071 3afdb8b1-b845-476e-b969-e63460891d11
        a=rtcp:9 IN IP4 0.0.0.0
        a=rtcp-mux
        a=ssrc:959920786 cname:a1dd5a9e-162c-4fef-b70b-6c28b0df637d
        a=rtpmap:96 opus/48000/2
        a=rtpmap:0 PCMU/8000
        a=rtpmap:8 PCMA/8000
        a=candidate:f957a2332b1715da3b0ef8ba684454eb 1 udp 2130706431 127.0.0.1 52731 typ host
        a=candidate:d0bcf3d9c29a2bc887618212a1623bfa 1 udp 2130706431 ::1 55650 typ host
        a=end-of-candidates
        a=ice-ufrag:xmcD
        a=ice-pwd:1pqRPyWtUpbblknJ506w8J
        a=fingerprint:sha-256 98:03:B6:44:77:09:4A:4B:8A:3C:4F:88:BA:58:57:7B:7B:94:06:71:0C:30:72:1B:E7:EC:A7:E0:71:32:64:A3
        a=setup:actpass
        """#)
}
