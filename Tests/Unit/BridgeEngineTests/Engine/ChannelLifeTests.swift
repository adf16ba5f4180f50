import BridgeEngine
import MediaBridgeAgora
import MediaBridgeTesting
import MediaCore
import Synchronization
import TestSupport
import Testing

/// How engines react to the events of their channel.
@Suite(.hangGuard, .balanced)
struct ChannelLifeTests {
    let network = LoopbackNetwork(timeline: VirtualTimeline())

    /// Two engines in a channel; the first one sends.
    private func pair() async throws -> (MediaEngine, MediaEngine, SourceScript) {
        let (sender, receiver) = (makeEngine(transport: network), makeEngine(transport: network))
        let source = SourceScript("A")
        try await receiver.joinChannel("room", userID: "ben", role: .audience)
        try await sender.setVideoSource(ScriptedSource(source))
        try await sender.joinChannel("room", userID: "anna")
        return (sender, receiver, source)
    }

    @Test func tracksWithoutViewersAreNotSent() async throws {
        let (sender, receiver, source) = try await pair()
        let events = sender.events
        try source.deliver(number: 0)
        let sink = SinkScript()
        let renderer = try await receiver.addVideoSink(ScriptedSink(sink), to: .remote("anna"))
        await events.first(named: "publicationChanged")
        try source.deliver(number: 1)
        await sink.rendered(1)
        try await receiver.removeVideoSink(renderer)
        await events.first(named: "publicationChanged")
        try source.deliver(number: 2)
        await sender.shutDown()
        #expect(sink.numbers == [1])
        let statistics = await receiver.statistics
        #expect(statistics.channel?.incoming.offered == 1)
        await receiver.shutDown()
        #expect(await sender.statistics.sent == 3)
    }

    /// The sender is limited to the largest size that renderers request.
    @Test func senderReceivesTheRequestedSize() async throws {
        let (sender, receiver, _) = try await pair()
        let events = sender.events
        var options = SinkOptions()
        options.size = VideoSize(width: 320, height: 180)
        try await receiver.addVideoSink(
            ScriptedSink(SinkScript()), to: .remote("anna"), options: options)
        let limit = await events.first { event in
            if case .publicationLimited(.main, let limit) = event { limit } else { nil }
        }
        #expect(limit?.size == options.size)
        await sender.shutDown()
        await receiver.shutDown()
    }

    /// A source that takes over gets the limit as well, and its removal.
    @Test func sourceFollowsTheRequestedSize() async throws {
        let (sender, receiver, first) = try await pair()
        let events = sender.events
        func kept() async -> VideoLimit? {
            await events.first { event in
                if case .sourceLimited(.main, let limit) = event { limit } else { nil }
            }
        }
        try await sender.startPreview()
        var options = SinkOptions()
        options.size = VideoSize(width: 320, height: 180)
        try await receiver.addVideoSink(
            ScriptedSink(SinkScript()), to: .remote("anna"), options: options)
        #expect(await kept()?.size == options.size)
        #expect(first.calls.last == "keep to 320×180")
        let second = SourceScript("B")
        try second.deliverAtStart(1)
        let isReported = Happening()
        second.state.withLock { state in
            state.onCall = { if $0.hasPrefix("keep") { isReported.happen() } }
        }
        try await sender.setVideoSource(ScriptedSource(second))
        await isReported.wait()
        try await sender.leaveChannel()
        #expect(await kept() == VideoLimit())
        #expect(
            second.calls.filter { $0.hasPrefix("keep") } == ["keep to 320×180", "keep to no limit"])
        #expect(first.violations + second.violations == 0)
        await sender.shutDown()
        await receiver.shutDown()
    }

    @Test func mutedTrackContinuesLocallyAndIsNotSent() async throws {
        let (sender, receiver, source) = try await pair()
        let (near, far) = (SinkScript(), SinkScript())
        try await sender.setLocalVideoRenderer(ScriptedSink(near))
        try await receiver.setRemoteVideoRenderer(ScriptedSink(far), forUserID: "anna")
        let events = receiver.events
        try source.deliver(number: 0)
        await far.rendered(1)
        sender.muteLocalVideo(true)
        try source.deliver(number: 1)
        sender.muteLocalVideo(false)
        try source.deliver(number: 2)
        await far.rendered(2)
        await near.rendered(3)
        await sender.shutDown()
        await receiver.shutDown()
        #expect(near.numbers == [0, 1, 2] && far.numbers == [0, 2])
        #expect(await sender.statistics.outgoing.dropped[.muted] == 1)
        let muted = await events.rest().compactMap { event in
            if case .muted(let isMuted, .video(.main), by: "anna") = event { isMuted } else { nil }
        }
        #expect(muted == [true, false])
    }

    @Test func trackMutedBeforeJoiningIsPublishedAsMuted() async throws {
        let (sender, receiver) = (makeEngine(transport: network), makeEngine(transport: network))
        let source = SourceScript()
        let events = receiver.events
        try await receiver.joinChannel("room", userID: "ben", role: .audience)
        try await sender.setVideoSource(ScriptedSource(source))
        sender.muteLocalVideo(true)
        try await sender.joinChannel("room", userID: "anna")
        await events.first(named: "muted", of: .video(.main))
        try source.deliver(number: 0)
        await sender.shutDown()
        #expect(await sender.statistics.outgoing.dropped[.muted] == 1)
        await receiver.shutDown()
    }

    @Test func messagesGoToOneOrToAll() async throws {
        let (sender, receiver, _) = try await pair()
        let events = receiver.events
        try await sender.sendMessage(ChannelMessage("to all"))
        try await sender.sendMessage(ChannelMessage("to ben"), to: "ben")
        for expected in ["to all", "to ben"] {
            let message = await events.first { event in
                if case .messageReceived(let message, from: "anna") = event {
                    message.text
                } else {
                    nil
                }
            }
            #expect(message == expected)
        }
        await #expect(throws: EngineError.self) {
            try await sender.sendMessage(ChannelMessage("x"), to: "nobody")
        }
        try await sender.leaveChannel()
        let error = await #expect(throws: EngineError.self) {
            try await sender.sendMessage(ChannelMessage("x"))
        }
        #expect(error?.code == .notInChannel)
        await sender.shutDown()
        await receiver.shutDown()
    }

    /// The source and the renderers notice only missing frames.
    @Test func interruptionKeepsTracksAndUsers() async throws {
        let (sender, receiver, source) = try await pair()
        let far = SinkScript()
        try await receiver.setRemoteVideoRenderer(ScriptedSink(far), forUserID: "anna")
        try source.deliver(number: 0)
        await far.rendered(1)
        let (here, there) = (sender.events, receiver.events)
        func connections(_ events: EventSequence<EngineEvent>) async -> String? {
            await events.first { event in
                switch event {
                case .reconnecting(let attempt, let error): "\(attempt) \(error.code)"
                case .reconnected: "reconnected"
                default: nil
                }
            }
        }
        network.cut("anna", inChannel: "room")
        #expect(await connections(here) == "1 unreachable")
        try source.deliver(number: 1)
        #expect(await sender.currentChannel != nil && sender.remoteUsers == ["ben"])
        network.heal("anna", inChannel: "room")
        #expect(await connections(here) == "reconnected")
        network.cut("ben", inChannel: "room")
        #expect(await connections(there) == "1 unreachable")
        try source.deliver(number: 2)
        network.heal("ben", inChannel: "room")
        #expect(await connections(there) == "reconnected")
        try source.deliver(number: 3)
        await far.rendered(2)
        #expect(far.numbers == [0, 3])
        #expect(!source.calls.contains("shouldStop") && !far.calls.contains("shouldStop"))
        #expect(await sender.statistics.channel?.outgoing.dropped[.lost] == 2)
        await sender.shutDown()
        await receiver.shutDown()
    }

    @Test func kickedUserReceivesTheReasonAndCanRejoin() async throws {
        let (sender, receiver, source) = try await pair()
        let (here, there) = (sender.events, receiver.events)
        network.kick("anna", fromChannel: "room")
        let reason = await here.first { event in
            if case .disconnected(let error) = event { error.code } else { nil }
        }
        #expect(reason == .kicked)
        let offline = await there.first { event in
            if case .userOffline("anna", let reason) = event { reason } else { nil }
        }
        #expect(offline == .kicked)
        #expect(source.calls.contains("shouldStop"))
        try await sender.joinChannel("room", userID: "anna")
        await sender.shutDown()
        await receiver.shutDown()
    }

    @Test func engineRequestsANewTokenFromTheProgram() async throws {
        let valid = Observed("first")
        network.setVerifier(
            { token, _, _ throws(EngineError) in
                guard token == valid.value else {
                    throw EngineError(.tokenExpired, message: "not any more")
                }
                return nil
            }, forChannel: "room")
        let engine = makeEngine(transport: network)
        let requests = Observed(0)
        try await engine.joinChannel("room", token: "first", userID: "anna", role: .audience) {
            requests.change { $0 += 1 }
            if requests.value > 1 { throw Refusal(reason: "the server is down") }
            return "second"
        }
        let events = engine.events
        network.cut("anna", inChannel: "room")
        valid.change { $0 = "second" }
        network.heal("anna", inChannel: "room")
        _ = await events.first { event in
            if case .reconnected = event { true } else { nil }
        }
        network.cut("anna", inChannel: "room")
        network.heal("anna", inChannel: "room")
        let error = await events.first { event in
            if case .disconnected(let error) = event { error } else { nil }
        }
        #expect(error?.code == .tokenMissing && error?.underlying as? Refusal != nil)
        #expect(requests.value == 2)
        await engine.shutDown()
    }
}

extension SourceScript {
    /// Delivers a frame that carries its number; the times of two engines differ.
    fileprivate func deliver(number: Int) throws {
        var frame = try named(number)
        frame.metadata["number"] = "\(number)"
        deliver(frame)
    }
}

extension SinkScript {
    fileprivate var numbers: [Int] {
        frames.compactMap { $0.metadata["number"].flatMap { Int($0) } }
    }
}
