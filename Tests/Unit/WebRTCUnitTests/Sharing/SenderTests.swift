import MediaBridge
import MediaBridgeWebRTC
import TestSupport
import Testing

/// Senders are users of the engine's channel.
struct SenderTests {
    private func sender(_ served: ServedTest, _ query: String = "?name=anna") async throws
        -> FakePeer
    {
        #expect(await served.post("/whip" + query).status == 201)
        return try #require(served.peers.latest)
    }

    private func join(
        _ served: ServedTest, wantsAll: Bool = true
    ) async throws -> any ChannelMembership {
        try await served.server.join(
            ChannelRequest(channel: "in", userID: "host", wantsAllTracks: wantsAll),
            receiver: served.listener)
    }

    @Test func senderIsAUserUntilItsConnectionEnds() async throws {
        let served = ServedTest()
        let membership = try await join(served)
        let peer = try await sender(served)
        // The first unit may arrive before the connection state.
        peer.observer?.receive(Units.key(1))
        peer.connect()
        peer.observer?.receive(Units.audio)
        peer.observer?.receive(Units.delta(2))
        peer.observer?.stateChanged(.closed)
        await served.listener.waitFor("left anna quit")
        #expect(
            served.listener.heard.value == [
                "joined anna", "video anna", "audio anna", "unit 1 anna", "sound anna",
                "unit 2 anna", "no video anna", "no audio anna", "left anna quit",
            ])
        let statistics = membership.statistics
        #expect(statistics.incoming.offered == 2)
        #expect(statistics.incoming.delivered == 2)
        #expect(statistics.incomingAudio.delivered == 1)
        #expect(peer.role == .receiver)
        // The name is free again.
        _ = try await sender(served)
        await membership.leave()
        #expect(membership.statistics.incoming == statistics.incoming)
    }

    @Test func failedSenderIsReportedAsDropped() async throws {
        let served = ServedTest()
        let membership = try await join(served)
        let peer = try await sender(served, "")
        peer.connect()
        peer.observer?.stateChanged(.failed(PipelineError(.unreachable, message: "gone")))
        await served.listener.waitFor("left sender-1 dropped")
        await membership.leave()
        #expect(
            served.listener.heard.value == [
                "joined sender-1", "video sender-1", "audio sender-1", "no video sender-1",
                "no audio sender-1", "left sender-1 dropped",
            ])
    }

    @Test func senderThatNeverConnectsIsNotAUser() async throws {
        let served = ServedTest()
        let membership = try await join(served)
        let peer = try await sender(served)
        peer.observer?.stateChanged(.failed(PipelineError(.deadlineExceeded, message: "late")))
        await peer.state.wait { $0.isClosed }
        let next = try await sender(served, "?name=ben")
        next.connect()
        await served.listener.waitFor("joined ben")
        #expect(served.listener.count("joined anna") == 0)
        await membership.leave()
    }

    @Test func generatedNamesDifferFromTheEngines() async throws {
        let served = ServedTest()
        let membership = try await served.server.join(
            ChannelRequest(channel: "in", userID: "sender-1"), receiver: served.listener)
        try await sender(served, "").connect()
        await served.listener.waitFor("joined sender-2")
        await membership.leave()
    }

    @Test func unwantedTrackIsNotForwarded() async throws {
        let served = ServedTest()
        let membership = try await join(served, wantsAll: false)
        let peer = try await sender(served)
        peer.connect()
        peer.observer?.receive(Units.key(1))
        membership.setDemand(VideoLimit(), .main, of: "anna")
        #expect(peer.state.value.keyFrameRequests == 1)
        peer.observer?.receive(Units.delta(2))
        peer.observer?.receive(Units.key(3))
        await served.listener.waitFor("unit 3 anna")
        membership.setDemand(nil, .main, of: "anna")
        peer.observer?.receive(Units.delta(4))
        let incoming = membership.statistics.incoming
        #expect(incoming.offered == 2)
        #expect(incoming.dropped[.needsKeyFrame] == 1)
        #expect(incoming.waiting == 0)
        await membership.leave()
        #expect(served.listener.heard.value.filter { $0.hasPrefix("unit") } == ["unit 3 anna"])
    }

    @Test func mergedKeyframeRequestsReachTheSender() async throws {
        let served = ServedTest()
        let membership = try await join(served)
        let peer = try await sender(served)
        peer.connect()
        for _ in 0..<50 { membership.requestKeyFrame(.main, of: "anna") }
        #expect(peer.state.value.keyFrameRequests == 1)
        await served.timeline.expire(.milliseconds(250))
        #expect(peer.state.value.keyFrameRequests == 2)
        membership.requestKeyFrame(.main, of: "nobody")
        await membership.leave()
    }

    @Test func messagesGoBothWays() async throws {
        let served = ServedTest()
        let held = try await served.join()
        #expect(await served.post("/whep?name=vera").status == 201)
        let viewer = try #require(served.peers.latest)
        viewer.connect()
        let sender = try await sender(served)
        sender.connect()
        viewer.observer?.receive(ChannelMessage("hello"))
        sender.observer?.receive(ChannelMessage("good day"))
        await served.listener.waitFor("hello vera")
        await served.listener.waitFor("good day anna")
        #expect(served.listener.count("joined vera") == 0)
        try await held.membership.send(ChannelMessage("all"), to: nil)
        try await held.membership.send(ChannelMessage("one"), to: "anna")
        #expect(viewer.state.value.messages.map(\.text) == ["all"])
        #expect(sender.state.value.messages.map(\.text) == ["all", "one"])
        sender.state.change { $0.takesMessages = false }
        for (message, user, code) in [
            (ChannelMessage("x"), "nobody", EngineError.Code.invalidArgument),
            (ChannelMessage("x"), "anna", .invalidState),
            (ChannelMessage([UInt8](repeating: 0, count: 16385)), "vera", .invalidArgument),
        ] {
            let error = await #expect(throws: EngineError.self) {
                try await held.membership.send(message, to: UserID(user))
            }
            #expect(error?.code == code)
        }
        await held.membership.leave()
        let error = await #expect(throws: EngineError.self) {
            try await held.membership.send(ChannelMessage("late"), to: nil)
        }
        #expect(error?.code == .notInChannel)
    }
}
