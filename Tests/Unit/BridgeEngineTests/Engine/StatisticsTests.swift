import MediaBridgeAgora
import MediaBridgeTesting
import MediaCore
import TestSupport
import Testing

@testable import BridgeEngine

/// An engine's counters, and that they add up.
@Suite(.hangGuard, .balanced)
struct StatisticsTests {
    @Test func everyFrameIsRenderedOrHasACause() async throws {
        let network = LoopbackNetwork()
        let (engine, other) = (makeEngine(transport: network), makeEngine(transport: network))
        let source = SourceScript("A")
        let sinks = [SinkScript(), SinkScript(), SinkScript()]
        sinks[1].fail("render")
        let remote = SinkScript()
        try await other.setRemoteVideoRenderer(ScriptedSink(remote), forUserID: 1)
        try await other.joinChannel("room", userID: 2, role: .audience)
        try await engine.setVideoSource(ScriptedSource(source))
        for sink in sinks {
            try await engine.addVideoSink(ScriptedSink(sink), to: .local())
        }
        try await engine.setVideoProcessors([Work { $0 }], at: .encode)
        try await engine.joinChannel("room", userID: 1)
        let pump = Pump(source)
        await sinks[0].rendered(200)
        await pump.stop()
        var odd = try frame(0)
        odd.runningTime = nil
        source.deliver(odd)
        try await engine.leaveChannel()
        let statistics = await engine.statistics
        let local = try #require(statistics.local[.main])
        #expect(local.delivered == pump.delivered + 1)
        #expect(local.accepted == pump.accepted)
        #expect(local.dropped[.noTime] == 1)
        #expect(local.size == VideoSize(width: 4, height: 2))
        for renderer in statistics.videoSinks.values {
            #expect(renderer.balance.offered == local.accepted)
            #expect(renderer.balance.waiting == 0)
        }
        let rendered = statistics.videoSinks.values.map(\.balance.delivered).sorted()
        #expect(rendered[0] == 0)
        #expect(rendered[1...] == [sinks[0], sinks[2]].map(\.frames.count).sorted()[...])
        // A captured frame was sent, or evicted before the encoder's processors.
        #expect(statistics.sent + local.dropped[.evicted] == local.accepted)
        #expect(statistics.outgoing.dropped.total == 0)
        await engine.shutDown()
        await other.shutDown()
    }

    @Test func statisticsContainRatesAndSizes() async throws {
        let network = LoopbackNetwork()
        let backend = TestBackend()
        let (engine, other) = (
            makeEngine(backend, transport: network), makeEngine(backend, transport: network)
        )
        let (source, remote) = (SourceScript("A"), SinkScript())
        try await other.setRemoteVideoRenderer(ScriptedSink(remote), forUserID: 1)
        try await other.joinChannel("room", userID: 2, role: .audience)
        try await engine.setVideoSource(ScriptedSource(source))
        try await engine.joinChannel("room", userID: 1)
        try source.deliver(0)
        await remote.rendered(1)
        // The first statistics are the starting point for the rates of the second.
        _ = (await engine.statistics, await other.statistics)
        for number in 1..<20 {
            try source.deliver(number)
            await remote.rendered(number + 1)
        }
        backend.time.advance(by: .seconds(1))
        let near = await engine.statistics
        // Each reading measures from the previous one.
        var rates = (user: 0.0, renderer: 0.0)
        let far = await other.statistics { statistics in
            rates.user = max(rates.user, statistics.remote[1]?[.main]?.frameRate ?? 0)
            let renderer = statistics.videoSinks.values.first
            rates.renderer = max(rates.renderer, renderer?.frameRate ?? 0)
            return renderer?.balance.delivered == 20
        }
        #expect(near.local[.main]?.frameRate == 19)
        let user = try #require(far.remote[1]?[.main])
        #expect(user.received == 20)
        #expect(rates.user > 0)
        #expect(user.size == VideoSize(width: 4, height: 2))
        let renderer = try #require(far.videoSinks.values.first)
        #expect(rates.renderer > 0)
        #expect(renderer.latencyP50 != nil)
        #expect(try #require(renderer.latencyP99) >= #require(renderer.latencyP50))
        await engine.shutDown()
        await other.shutDown()
    }

    @Test func customTrackIsCountedSeparately() async throws {
        let engine = makeEngine()
        try await engine.setVideoSource(ScriptedSource(SourceScript()))
        let track = try await engine.createCustomVideoTrack(.bytes)
        let sink = SinkScript()
        try await engine.addVideoSink(ScriptedSink(sink), to: .local(track))
        try await engine.startPreview()
        for _ in 0..<3 { engine.pushExternalVideoFrame(external(), track: track) }
        await sink.rendered(3)
        let statistics = await engine.statistics
        #expect(statistics.local[track]?.accepted == 3)
        #expect(statistics.local[.main]?.accepted == 0)
        try await engine.destroyCustomVideoTrack(track)
        await sink.gone.wait()
        let after = engine.pushExternalVideoFrame(external(), track: track)
        #expect(after == .dropped(.notEnabled))
        let gone = await engine.statistics
        #expect(gone.local[track] == nil)
        #expect(gone.videoSinks.isEmpty)
        await engine.shutDown()
    }

    @Test func aFreezeIsHalfASecondWithoutAPicture() {
        let meter = FreezeMeter()
        for milliseconds in [0, 40, 80, 580, 1081, 1121] {
            meter.note(at: MediaTime(.milliseconds(milliseconds)))
        }
        #expect(meter.all.count == 1)
        #expect(meter.all.total == .milliseconds(501))
        // A requested pause is not counted.
        meter.pause()
        meter.note(at: MediaTime(seconds: 100))
        #expect(meter.all.count == 1)
    }

    @Test func quantilesAreAccurateToAnEighth() throws {
        let histogram = LatencyHistogram()
        #expect(histogram.quantile(0.5) == nil)
        for milliseconds in 1...100 { histogram.record(MediaTime(.milliseconds(milliseconds))) }
        histogram.record(MediaTime(nanoseconds: .max))
        histogram.record(.zero)
        let (half, most) = (
            try #require(histogram.quantile(0.5)), try #require(histogram.quantile(0.98))
        )
        #expect(half > .milliseconds(44) && half < .milliseconds(57))
        #expect(most > .milliseconds(86) && most < .milliseconds(112))
    }

    @Test func aSnapshotIsTheNextFrame() async throws {
        let (engine, source) = (makeEngine(), SourceScript("A"))
        try await engine.setVideoSource(ScriptedSource(source))
        try await engine.startPreview()
        let pump = Pump(source)
        let shot = try await engine.takeSnapshot()
        await pump.stop()
        #expect(shot.metadata["from"] == "A")
        await engine.shutDown()
    }

    @Test func snapshotWithoutAFrameIsAnError() async throws {
        let engine = makeEngine()
        for stream in [VideoStreamID.local(), .remote("nobody")] {
            let shot = Task { try await engine.takeSnapshot(of: stream) }
            await engine.time.expire(engine.configuration.firstFrameTimeout)
            let nothing = await #expect(throws: EngineError.self) { try await shot.value }
            #expect(nothing?.code == .noFrame)
        }
        let stranger = await #expect(throws: EngineError.self) {
            try await engine.takeSnapshot(of: .local(9))
        }
        #expect(stranger?.code == .invalidArgument)
        await engine.shutDown()
        let late = await #expect(throws: EngineError.self) { try await engine.takeSnapshot() }
        #expect(late?.code == .shutDown)
    }
}
