import BridgeEngine
import Foundation
import MediaBasics
import MediaBridgeAgora
import MediaBridgeTesting
import MediaCore
import TestSupport
import Testing

/// Joining and leaving in every order, and transports that misbehave.
@Suite(.hangGuard, .balanced)
struct ChannelUseTests {
    @Test func secondJoinIsAnErrorAndKeepsTheFirst() async throws {
        let engine = makeEngine(transport: LoopbackNetwork())
        try await engine.setVideoSource(ScriptedSource(SourceScript()))
        try await engine.joinChannel("one", userID: 1)
        let error = await #expect(throws: EngineError.self) {
            try await engine.joinChannel("two", userID: 1)
        }
        #expect(error?.code == .alreadyInChannel)
        #expect(await engine.currentChannel == "one")
        await engine.shutDown()
    }

    @Test func leavingWithoutJoiningIsAnError() async throws {
        let engine = makeEngine(transport: LoopbackNetwork())
        let error = await #expect(throws: EngineError.self) { try await engine.leaveChannel() }
        #expect(error?.code == .notInChannel)
        await engine.shutDown()
    }

    @Test func theFirstFrameIsSent() async throws {
        let network = LoopbackNetwork()
        let (sender, receiver) = (makeEngine(transport: network), makeEngine(transport: network))
        let (source, sink) = (SourceScript("A"), SinkScript())
        try source.deliverAtStart(0)
        try await receiver.setRemoteVideoRenderer(ScriptedSink(sink), forUserID: "anna")
        try await receiver.joinChannel("room", userID: "ben", role: .audience)
        try await sender.setVideoSource(ScriptedSource(source))
        try await sender.joinChannel("room", userID: "anna")
        await sink.rendered(1)
        #expect(sink.names == ["A"])
        // The receiver may be faster than the sender's counters, which are final after the
        // shutdown.
        await sender.shutDown()
        #expect(await sender.statistics.sent == 1)
        await receiver.shutDown()
    }

    @Test func failedSourceStartFailsTheJoin() async throws {
        let network = LoopbackNetwork()
        let (engine, source, sink) = (
            makeEngine(transport: network), SourceScript(), SinkScript()
        )
        source.fail("shouldStart")
        try await engine.setVideoSource(ScriptedSource(source))
        try await engine.setRemoteVideoRenderer(ScriptedSink(sink), forUserID: 2)
        let events = engine.events
        let error = await #expect(throws: EngineError.self) {
            try await engine.joinChannel("room", userID: 1)
        }
        #expect(error?.code == .sourceNotStarted)
        #expect(await engine.currentChannel == nil)
        #expect(network.channelNames.isEmpty)
        #expect(sink.calls.last == "shouldDispose")
        // Starting can be retried.
        source.mend()
        try await engine.joinChannel("room", userID: 1)
        await engine.shutDown()
        let all = await events.rest()
        #expect(all.count("joined") == 2)
        #expect(all.count("left") == 2)
    }

    @Test func leavingDuringJoinRunsAfterIt() async throws {
        let transport = SlowTransport()
        let engine = makeEngine(transport: transport)
        try await engine.setVideoSource(ScriptedSource(SourceScript()))
        let join = Task { try await engine.joinChannel("room", userID: 1) }
        await transport.isAsked.wait()
        let leave = Task { try await engine.leaveChannel() }
        transport.answer.happen()
        try await join.value
        _ = try await leave.value
        #expect(await engine.currentChannel == nil)
        #expect(transport.network.channelNames.isEmpty)
        await engine.shutDown()
    }

    @Test func lateJoinResponseIsFollowedByALeave() async throws {
        let transport = SlowTransport()
        let engine = makeEngine(transport: transport)
        let join = Task { try await engine.joinChannel("room", userID: 1, role: .audience) }
        await transport.isAsked.wait()
        await engine.time.expire(engine.configuration.joinTimeout)
        let error = await #expect(throws: EngineError.self) { try await join.value }
        #expect(error?.code == .stuck)
        let events = engine.events
        transport.answer.happen()
        await transport.isLeft.wait()
        #expect(transport.network.channelNames.isEmpty)
        await engine.shutDown()
        #expect(await events.rest().count("joined") == 0)
    }

    @Test func hangingTransportDoesNotBlockLeaving() async throws {
        let transport = SlowTransport()
        transport.answer.happen()
        transport.holdsOn = true
        let engine = makeEngine(transport: transport)
        try await engine.joinChannel("room", userID: 1, role: .audience)
        let leave = Task { try await engine.leaveChannel() }
        await transport.isLeaving.wait()
        await engine.time.expire(engine.configuration.callTimeout)
        _ = try await leave.value
        #expect(await engine.currentChannel == nil)
        // Later callbacks of the transport are ignored.
        let events = engine.events
        transport.receiver?.handle(.joined("ghost"))
        transport.receiver?.receive(.picture(try frame()), .video(.main), from: "ghost")
        transport.receiver?.handle(
            .disconnected(EngineError(.disconnected, message: "gone")))
        #expect(engine.remoteUsers.isEmpty)
        await engine.shutDown()
        #expect(await events.rest().isEmpty)
        transport.release.happen()
    }

    @Test func closedChannelIsLeftAndCanBeRejoined() async throws {
        let network = LoopbackNetwork()
        let (engine, source) = (makeEngine(transport: network), SourceScript())
        try await engine.setVideoSource(ScriptedSource(source))
        try await engine.joinChannel("room", userID: 1)
        let events = engine.events
        network.close(channel: "room")
        await events.first(named: "disconnected")
        #expect(await engine.currentChannel == nil)
        #expect(source.calls.last == "shouldDispose")
        // A new stay is independent of the old one.
        try await engine.joinChannel("room", userID: 1)
        #expect(await engine.currentChannel == "room")
        await engine.shutDown()
        let rest = await events.rest()
        #expect(rest.count("left") == 1)
        #expect(rest.count("disconnected") == 0)
    }

    @Test func joinsAndLeavesAHundredTimes() async throws {
        let network = LoopbackNetwork()
        let (engine, other) = (makeEngine(transport: network), makeEngine(transport: network))
        let (source, sink) = (SourceScript("A"), SinkScript())
        try await engine.setVideoSource(ScriptedSource(source))
        try await other.setRemoteVideoRenderer(ScriptedSink(sink), forUserID: 1)
        try await other.joinChannel("room", userID: 2, role: .audience)
        for round in 1...100 {
            try await engine.joinChannel("room", userID: 1)
            let taken = try source.deliver(round)
            #expect(taken == .accepted)
            await sink.rendered(round)
            try await engine.leaveChannel()
        }
        #expect(network.channelNames == ["room"])
        #expect(source.calls.filter { $0 == "shouldDispose" }.count == 100)
        #expect(await engine.statistics.sent == 100)
        await engine.shutDown()
        await other.shutDown()
        #expect(network.channelNames.isEmpty)
    }

    @Test func departedUsersLeaveNoStatistics() async throws {
        let network = LoopbackNetwork()
        let engine = makeEngine(transport: network)
        try await engine.joinChannel("room", userID: "host", role: .audience)
        let events = engine.events
        for number in 0..<20 {
            let guest = makeEngine(transport: network)
            let (source, sink) = (SourceScript(), SinkScript())
            try source.deliverAtStart(0)
            let user = UserID("guest \(number)")
            try await engine.setRemoteVideoRenderer(ScriptedSink(sink), forUserID: user)
            try await guest.setVideoSource(ScriptedSource(source))
            try await guest.joinChannel("room", userID: user)
            await events.first(named: "firstFrame")
            #expect(await engine.statistics.remote.count == 1)
            await guest.shutDown()
            await events.first(named: "userOffline")
            try await engine.setRemoteVideoRenderer(nil, forUserID: user)
            #expect(await engine.statistics.remote.isEmpty)
        }
        await engine.shutDown()
    }

    @Test func frameHeldByTheTransportAtTheEndIsCounted() async throws {
        let sending = Hang()
        let transport = SlowTransport(sending: sending)
        transport.answer.happen()
        let (host, guest) = (
            makeEngine(transport: transport.network), makeEngine(transport: transport)
        )
        let source = SourceScript()
        let events = host.events
        try await host.setRemoteVideoRenderer(ScriptedSink(SinkScript()), forUserID: "guest")
        try await host.joinChannel("room", userID: "host", role: .audience)
        try await guest.setVideoSource(ScriptedSource(source))
        try await guest.joinChannel("room", userID: "guest")
        Thread.detachNewThread { _ = try? source.deliver(0) }
        await events.first(named: "firstFrame")
        let end = Task { await guest.shutDown() }
        // The engine waits until the frame is counted.
        await guest.time.alarms(in: .seconds(1).asDefaultDeadline)
        sending.signal()
        await end.value
        #expect(await guest.statistics.sent == 1)
        await host.shutDown()
    }

    @Test func framesInConversionAreSentBeforeLeaving() async throws {
        let (network, backend) = (LoopbackNetwork(), TestBackend())
        let engine = makeEngine(backend, transport: network)
        let source = SourceScript()
        var encoder = VideoEncoderConfiguration()
        encoder.mirror = .enabled
        try await engine.setVideoEncoderConfiguration(encoder)
        try await engine.setVideoSource(ScriptedSource(source))
        try await engine.joinChannel("room", userID: 1)
        let door = backend.conversions.hang()
        for time in 0..<3 { #expect(try source.deliver(time) == .accepted) }
        async let end: Void = engine.shutDown()
        door.signal()
        await end
        let outgoing = await engine.statistics.outgoing
        #expect(outgoing == FrameBalance(offered: 3, delivered: 3))
    }

    @Test func encoderConfigurationChangesWithoutANewTrack() async throws {
        let network = LoopbackNetwork()
        let (engine, other) = (makeEngine(transport: network), makeEngine(transport: network))
        let (source, sink) = (SourceScript("A"), SinkScript())
        try await engine.setVideoSource(ScriptedSource(source))
        try await other.setRemoteVideoRenderer(ScriptedSink(sink), forUserID: 1)
        try await other.joinChannel("room", userID: 2, role: .audience)
        let events = other.events
        try await engine.joinChannel("room", userID: 1)
        try source.deliver(0)
        await sink.rendered(1)
        var encoder = VideoEncoderConfiguration()
        encoder.mirror = .enabled
        try await engine.setVideoEncoderConfiguration(encoder)
        try source.deliver(1)
        await sink.rendered(2)
        try await engine.setVideoEncoderConfiguration(VideoEncoderConfiguration())
        try source.deliver(2)
        await sink.rendered(3)
        #expect(sink.frames.map { $0.metadata["converted"] } == [nil, "geometry", nil])
        // The receiver may be faster than the sender's counters, which are final after the
        // shutdown.
        await engine.shutDown()
        #expect(await engine.statistics.sent == 3)
        await other.shutDown()
        let all = await events.rest()
        #expect(all.count("published") == 1)
        #expect(all.count("unpublished") <= 1)
    }
}
