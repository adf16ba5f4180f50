import MediaBridge
import MediaBridgeWebRTC
import TestSupport
import Testing

/// The media that an engine publishes reaches the viewers.
struct SharingTests {
    private func viewer(_ served: ServedTest) async throws -> FakePeer {
        #expect(await served.post("/whep").status == 201)
        let peer = try #require(served.peers.latest)
        peer.connect()
        return peer
    }

    @Test func engineSendsOnlyWhileViewersWatchAfterTheFirstUnit() async throws {
        let served = ServedTest()
        let held = try await served.join()
        await served.listener.waitFor("paused")
        #expect(served.listener.heard.value == ["sending", "paused"])
        let location = try #require(await served.post("/whep")["Location"])
        await served.listener.waitFor("sending", count: 2)
        _ = await served.send("DELETE", location)
        await served.listener.waitFor("paused", count: 2)
        await held.membership.leave()
    }

    @Test func aViewerWaitsForTheFirstUnit() async throws {
        let served = ServedTest()
        let held = try await served.join(firstUnit: nil)
        async let reply = served.post("/whep")
        await served.listener.waitFor("sending")
        held.video.send(Units.key(1))
        #expect(await reply.status == 201)
        await held.membership.leave()
    }

    @Test func viewerIsRefusedIfNoUnitArrivesInTime() async throws {
        let served = ServedTest()
        let held = try await served.join(firstUnit: nil)
        async let reply = served.post("/whep")
        await served.timeline.expire(.seconds(5).onThisMachine)
        #expect(await reply.status == 409)
        await held.membership.leave()
    }

    @Test func eachUnitIsSentToAllConnectedViewers() async throws {
        let served = ServedTest()
        let held = try await served.join()
        let (first, second) = (try await viewer(served), try await viewer(served))
        #expect(await served.post("/whep").status == 201)
        let connecting = try #require(served.peers.latest)
        #expect(held.video.send(Units.delta(1)) == .accepted)
        held.video.send(Units.key(2))
        held.video.send(Units.delta(3))
        for peer in [first, second] { #expect(peer.state.value.units.map(\.last) == [2, 3]) }
        #expect(connecting.state.value.units.isEmpty)
        let statistics = held.membership.statistics
        #expect(statistics.sent == 4)
        #expect(statistics.outgoing.offered == 6)
        #expect(statistics.outgoing.delivered == 4)
        #expect(statistics.outgoing.dropped[.needsKeyFrame] == 2)
        #expect(statistics.outgoing.waiting == 0)
        #expect(statistics.to.count == 3)
        await held.membership.leave()
        #expect(held.membership.statistics.outgoing == statistics.outgoing)
        #expect(held.membership.statistics.sent == 4)
        #expect(held.video.send(Units.key(4)) == .dropped(.closed))
    }

    @Test func audioIsSentToAllViewers() async throws {
        let served = ServedTest()
        let membership = try await served.server.join(
            ChannelRequest(channel: "share", userID: "host"), receiver: served.listener)
        let audio = membership.publishAudio()
        #expect(audio.audioCodecs == [.opus])
        #expect(!audio.carriesFrames)
        let peer = try await viewer(served)
        #expect(peer.media.video.isEmpty)
        #expect(audio.send(Units.audio) == .accepted)
        audio.setMuted(true)
        #expect(audio.send(Units.audio) == .dropped(.muted))
        #expect(peer.state.value.audio == 1)
        audio.end()
        #expect(audio.send(Units.audio) == .dropped(.notStarted))
        await membership.leave()
    }

    @Test func refusedUnitSkipsUntilTheNextKeyframe() async throws {
        let served = ServedTest()
        let held = try await served.join()
        let peer = try await viewer(served)
        await served.listener.waitFor("key frame")
        held.video.send(Units.key(1))
        peer.state.change { $0.disposition = .dropped(.queueFull) }
        held.video.send(Units.delta(2))
        peer.state.change { $0.disposition = .accepted }
        held.video.send(Units.delta(3))
        held.video.send(Units.key(4))
        #expect(peer.state.value.units.map(\.last) == [1, 4])
        let outgoing = held.membership.statistics.outgoing
        #expect(outgoing.dropped[.evicted] == 1)
        #expect(outgoing.dropped[.needsKeyFrame] == 1)
        #expect(outgoing.waiting == 0)
        await held.membership.leave()
    }

    @Test func keyframeRequestsAreMergedAndNoneIsLost() async throws {
        let served = ServedTest()
        let held = try await served.join()
        let peer = try await viewer(served)
        await served.listener.waitFor("key frame")
        for _ in 0..<50 { peer.observer?.keyFrameNeeded() }
        #expect(served.listener.count("key frame") == 1)
        await served.timeline.expire(.milliseconds(250))
        await served.listener.waitFor("key frame", count: 2)
        served.timeline.advance(by: .seconds(10))
        await held.membership.leave()
        #expect(served.listener.count("key frame") == 2)
    }

    @Test func nothingIsSentWhileTheTrackIsMuted() async throws {
        let served = ServedTest()
        let held = try await served.join()
        let peer = try await viewer(served)
        held.video.send(Units.key(1))
        held.video.setMuted(true)
        #expect(held.video.send(Units.delta(2)) == .dropped(.muted))
        await served.listener.waitFor("paused", count: 2)
        held.video.setMuted(false)
        held.video.send(Units.delta(3))
        held.video.send(Units.key(4))
        #expect(peer.state.value.units.map(\.last) == [1, 4])
        await held.membership.leave()
    }

    @Test func viewersReconnectForAnotherCodec() async throws {
        let served = ServedTest()
        let held = try await served.join()
        let peer = try await viewer(served)
        held.video.send(
            EncodedVideoFrame(.h264, bytes: [0, 0, 0, 1, 0x65, 1], runningTime: .zero))
        await peer.state.wait { $0.isClosed }
        let next = try await viewer(served)
        #expect(next.media.video == [.h264])
        #expect(
            held.video.send(EncodedVideoFrame(.av1, bytes: [1], runningTime: .zero))
                == .dropped(.badFormat))
        await held.membership.leave()
    }

    @Test func limitFollowsTheViewers() async throws {
        let served = ServedTest()
        let held = try await served.join()
        let peer = try await viewer(served)
        var limit = VideoLimit()
        limit.bitRate = 500_000
        peer.observer?.limitChanged(limit)
        await served.listener.waitFor("limit 500000 bit/s")
        limit.bitRate = 510_000
        peer.observer?.limitChanged(limit)
        limit.bitRate = 800_000
        peer.observer?.limitChanged(limit)
        await served.listener.waitFor("limit 800000 bit/s")
        peer.observer?.stateChanged(.closed)
        await served.listener.waitFor("limit no limit")
        #expect(served.listener.count("limit 510000 bit/s") == 0)
        await held.membership.leave()
    }

    /// The limits of viewers in kbit/s, and the resulting limit of the engine.
    private static let limits: [(viewers: [Int], shared: Int)] = [
        ([300], 300), ([300, 4000], 300), ([300, 4000, 4000], 2000), ([1500, 2000, 9000], 1500),
        ([300, 350, 4000], 300), ([10, 20], 100),
    ]

    @Test(arguments: limits) func slowMinorityHalvesTheBitRateAtMost(viewers: [Int], shared: Int)
        async throws
    {
        let served = ServedTest()
        let held = try await served.join()
        for rate in viewers {
            var limit = VideoLimit()
            limit.bitRate = rate * 1000
            try await viewer(served).observer?.limitChanged(limit)
        }
        await served.listener.waitFor("limit \(shared * 1000) bit/s")
        await held.membership.leave()
        let last = served.listener.heard.value.last { $0.hasPrefix("limit") }
        #expect(last == "limit \(shared * 1000) bit/s")
    }

    @Test func onlyOneEngineIsServed() async throws {
        let served = ServedTest()
        let held = try await served.join()
        let error = await #expect(throws: EngineError.self) {
            _ = try await served.server.join(
                ChannelRequest(channel: "b", userID: "b"), receiver: Listener())
        }
        #expect(error?.code == .channelFull)
        await held.membership.leave()
        #expect(await served.post("/whep").status == 409)
        let next = try await served.join()
        #expect(await served.post("/whep").status == 201)
        await next.membership.leave()
    }

    @Test func leavingClosesEveryPeerAndEndsTheCallbacks() async throws {
        let served = ServedTest()
        let held = try await served.join()
        _ = try await viewer(served)
        #expect(await served.post("/whip").status == 201)
        served.peers.latest?.connect()
        await served.listener.waitFor("joined sender-2")
        await held.membership.leave()
        let heard = served.listener.heard.value
        for peer in served.peers.all.value {
            #expect(peer.state.value.isClosed)
            peer.observer?.receive(Units.key(1))
            peer.observer?.keyFrameNeeded()
        }
        await held.membership.leave()
        #expect(served.listener.heard.value == heard)
    }

    @Test func releasedMembershipEnds() async throws {
        let served = ServedTest()
        do {
            let held = try await served.join()
            _ = try await viewer(served)
            _ = held
        }
        await served.peers.latest?.state.wait { $0.isClosed }
        #expect(await served.post("/whep").status == 409)
    }
}
