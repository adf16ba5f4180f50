import BridgeEngine
import MediaBridgeAgora
import MediaBridgeTesting
import MediaCore
import Synchronization
import TestSupport
import Testing

/// Sends frames into a channel that carries only encoded units.
@Suite(.hangGuard, .balanced)
struct EncodedPublicationTests {
    private let backend = TestBackend()
    private let network = LoopbackNetwork(carriesRawFrames: false)

    /// Receives the units of the sender. Subscribes to its track by default.
    private func listen(_ user: UserID = "ben") async throws -> (Member, Ears) {
        let ears = Ears()
        let request = ChannelRequest(channel: "room", userID: user)
        let member = try await network.enter(request, receiver: ears)
        BalanceBook.current?.add(member.membership)
        return (member, ears)
    }

    /// An engine in the channel, whose source delivers frames one second apart.
    private func send() async throws -> (MediaEngine, SourceScript) {
        let engine = makeEngine(backend, transport: network)
        let source = SourceScript()
        try await engine.setVideoSource(ScriptedSource(source))
        try await engine.joinChannel("room", userID: "anna")
        return (engine, source)
    }

    @Test func eachFrameIsEncodedOnceForAllReceivers() async throws {
        let (ben, one) = try await listen()
        let (cleo, other) = try await listen("cleo")
        let (engine, source) = try await send()
        for number in 0..<3 {
            try source.deliver(number * 1000)
            await one.hears(.unit(number + 1, .main, "anna"))
            await other.hears(.unit(number + 1, .main, "anna"))
        }
        await engine.shutDown()
        #expect(backend.encoders.calls == ["make h264", "stop h264"])
        let track = try #require(await engine.statistics.local[.main])
        #expect(track.encoding == FrameBalance(offered: 3, delivered: 3))
        #expect(await engine.statistics.sent == 3)
        for member in [ben, cleo] { await member.leave() }
    }

    @Test func requestedLimitsReachTheEncoder() async throws {
        let (ben, ears) = try await listen()
        let (engine, source) = try await send()
        var configuration = VideoEncoderConfiguration()
        configuration.bitRate = 300_000
        (configuration.contentHint, configuration.keyFrameInterval) = (.text, .seconds(3))
        try await engine.setVideoEncoderConfiguration(configuration)
        try source.deliver(0)
        await ears.hears(.unit(1, .main, "anna"))
        #expect(
            backend.encoders.settings == [
                VideoEncoderSettings(
                    .h264, bitRate: 300_000, keyFrameInterval: .seconds(3),
                    contentHint: .text)
            ])
        configuration.bitRate = 200_000
        try await engine.setVideoEncoderConfiguration(configuration)
        ben.membership.requestKeyFrame(.main, of: "anna")
        // The request passes through the sender's queue before this message.
        let events = engine.events
        try await ben.membership.send(ChannelMessage("now"), to: nil)
        await events.first(named: "messageReceived")
        try source.deliver(1000)
        await ears.hears(.unit(2, .main, "anna"))
        configuration.keyFrameInterval = .seconds(4)
        try await engine.setVideoEncoderConfiguration(configuration)
        try source.deliver(2000)
        // A new encoder begins with a keyframe.
        await ears.hears { $0.units("anna") == [1, 2, 1] }
        await engine.shutDown()
        #expect(
            backend.encoders.calls == [
                "make h264", "bit rate 200000", "key frame", "stop h264", "make h264", "stop h264",
            ])
        await ben.leave()
    }

    @Test func anotherEncoderReplacesAFailedOne() async throws {
        let (ben, ears) = try await listen()
        backend.encoders.name("chip", "software")
        let (engine, source) = try await send()
        var configuration = VideoEncoderConfiguration()
        configuration.encoder = .element("chip")
        try await engine.setVideoEncoderConfiguration(configuration)
        let events = engine.events
        try source.deliver(0)
        await ears.hears(.unit(1, .main, "anna"))
        backend.encoders.fail()
        try source.deliver(1000)
        let warning = await events.first { event in
            if case .warning(let text) = event { text } else { nil }
        }
        #expect(warning?.hasPrefix("software encodes from here on") == true, "\(warning ?? "")")
        await ears.hears { $0.units("anna").count >= 2 }
        #expect(backend.encoders.settings.map(\.avoided) == [[], ["chip"]])
        #expect(backend.encoders.settings.map(\.encoder) == [.element("chip"), .automatic])
        // A later change of the plan finds the same encoder.
        var demand = VideoLimit()
        demand.frameRate = 5
        ben.membership.setDemand(demand, .main, of: "anna")
        await events.first { event in
            if case .publicationLimited = event { true } else { nil }
        }
        try source.deliver(2000)
        await ears.hears { $0.units("anna").count >= 3 }
        #expect(backend.encoders.settings.last?.encoder == .automatic)
        await engine.shutDown()
        await ben.leave()
    }

    @Test func failedEncoderIsReportedAndReplacedOnRequest() async throws {
        let (ben, ears) = try await listen()
        let (engine, source) = try await send()
        let events = engine.events
        func failure() async -> EngineError? {
            await events.first { event in
                if case .publicationChanged(.video(.main), .failed(let error)) = event {
                    error
                } else {
                    nil
                }
            }
        }
        try source.deliver(0)
        await ears.hears(.unit(1, .main, "anna"))
        backend.encoders.fail()
        // No other encoder can take over from the next frame on.
        try source.deliver(1000)
        #expect(await failure()?.code == .sendingFailed)
        try await engine.setVideoEncoderConfiguration(VideoEncoderConfiguration())
        // Both units arrive, or the failed encoder loses one.
        try source.deliver(2000)
        await ears.hears { $0.units("anna").count >= 2 }
        backend.encoders.refuse(Refusal(reason: "none left"))
        var configuration = VideoEncoderConfiguration()
        configuration.keyFrameInterval = .seconds(1)
        try await engine.setVideoEncoderConfiguration(configuration)
        try source.deliver(3000)
        #expect(await failure()?.underlying as? Refusal == Refusal(reason: "none left"))
        try source.deliver(4000)
        await engine.shutDown()
        let track = try #require(await engine.statistics.local[.main])
        #expect(
            track.encoding.dropped[.failed] >= 2 && track.encoding.waiting == 0,
            "\(track.encoding) of \(track)")
        await ben.leave()
    }

    @Test func framesHeldByAnEncoderAreCounted() async throws {
        let (ben, _) = try await listen()
        backend.encoders.hold()
        let (engine, source) = try await send()
        for number in 0..<3 { try source.deliver(number * 1000) }
        await engine.shutDown()
        let track = try #require(await engine.statistics.local[.main])
        #expect(track.encoding.offered == 3 && track.encoding.delivered == 0)
        #expect(track.encoding.dropped.total == 3)
        await ben.leave()
    }

    @Test func nothingIsEncodedWithoutReceivers() async throws {
        let (ben, ears) = try await listen()
        let (engine, source) = try await send()
        let events = engine.events
        try source.deliver(0)
        await ears.hears(.unit(1, .main, "anna"))
        ben.membership.setDemand(nil, .main, of: "anna")
        _ = await events.first { event in
            if case .publicationChanged(.video(.main), .paused) = event { true } else { nil }
        }
        try source.deliver(1000)
        await engine.shutDown()
        let track = try #require(await engine.statistics.local[.main])
        #expect(track.encoding.delivered == 1 && track.encoding.dropped[.paused] == 1)
        await ben.leave()
    }

    /// Units of a size other than the requested one are decoded, encoded and sent once.
    @Test func unitsOfAnotherSizeAreReencoded() async throws {
        let (ben, ears) = try await listen()
        let engine = makeEngine(backend, transport: network)
        try await engine.setExternalVideoSource(.encoded)
        try await engine.joinChannel("room", userID: "anna")
        var configuration = VideoEncoderConfiguration()
        let push = { (isKey: Bool, mark: UInt8) in
            let unit = VideoCodec.h264.unit(isKey: isKey, mark: mark)
            engine.time.advance(by: .milliseconds(1))
            #expect(engine.pushExternalEncodedVideoFrame(unit) == .accepted)
        }
        push(true, 101)
        await ears.hears(.unit(101, .main, "anna"))
        configuration.size = VideoSize(width: 2, height: 2)
        try await engine.setVideoEncoderConfiguration(configuration)
        push(true, 102)
        await ears.hears(.unit(1, .main, "anna"))
        try await engine.setVideoEncoderConfiguration(VideoEncoderConfiguration())
        // This unit refers to one that the receivers did not get.
        let events = engine.events
        push(false, 103)
        await events.first(named: "keyFrameNeeded")
        push(true, 104)
        push(false, 105)
        await ears.hears(.unit(105, .main, "anna"))
        await engine.shutDown()
        #expect(ears.words.units("anna") == [101, 1, 104, 105])
        #expect(
            backend.encoders.calls.first == "make h264"
                && backend.decoders.calls.first == "make h264")
        await ben.leave()
    }

    @Test(arguments: [VideoCodec.h264, .vp8])
    func unitsInACodecOfTheChannelAreNotReencoded(codec: VideoCodec) async throws {
        let (ben, ears) = try await listen()
        let engine = makeEngine(backend, transport: network)
        try await engine.setExternalVideoSource(.encoded)
        try await engine.joinChannel("room", userID: "anna")
        let unit = codec.unit(isKey: true, mark: 9)
        #expect(engine.pushExternalEncodedVideoFrame(unit) == .accepted)
        await ears.hears(.unit(9, .main, "anna"))
        // The request goes to the source, not to an encoder.
        let events = engine.events
        ben.membership.requestKeyFrame(.main, of: "anna")
        await events.first(named: "keyFrameNeeded")
        await engine.shutDown()
        #expect(backend.encoders.calls.isEmpty && backend.decoders.calls.isEmpty)
        await ben.leave()
    }
}
