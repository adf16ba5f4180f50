import Testing

@testable import MediaBridgeWebRTC

/// How many peer connections a process may have with its limit of file descriptors.
struct DescriptorsTests {
    @Test(arguments: [64, 256, 1024, 4096, 524_288])
    func peersLeaveAReserveOfDescriptors(limit: Int) {
        var open = 30
        while Descriptors.haveRoom(for: 1, open: open, limit: limit) { open += Descriptors.perPeer }
        #expect(open <= limit - min(384, limit / 2) || open == 30)
        #expect(limit < 256 || open > 30)
    }

    @Test func connectingPeersAreCounted() {
        #expect(Descriptors.haveRoom(for: 1, open: 600, limit: 1024))
        #expect(!Descriptors.haveRoom(for: 10, open: 600, limit: 1024))
        #expect(Descriptors.haveRoom(for: 1))
    }
}
