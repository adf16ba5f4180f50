import BridgeEngine
import MediaBridgeAgora
import MediaCore
import TestSupport
import Testing

/// A small picture to push.
func external(_ milliseconds: Int? = nil) -> ExternalVideoFrame {
    let frame = ExternalVideoFrame()
    frame.format = .i420
    (frame.strideInPixels, frame.height) = (4, 2)
    frame.dataBuf = [UInt8](repeating: 128, count: 12)
    frame.time = milliseconds.map { MediaTime(.milliseconds($0)) }
    frame.metadata["from"] = "push"
    return frame
}

/// Switches between a source and push mode while the engine runs, which other SDKs do not support.
@Suite(.hangGuard, .balanced)
struct PushSwapTests {
    let a = SourceScript("A")
    let sink = SinkScript()

    private func running(
        _ backend: TestBackend = TestBackend(), withDefault: Bool = false
    ) async throws -> MediaEngine {
        let engine = makeEngine(backend)
        if !withDefault { try await engine.setVideoSource(SharedSource(a)) }
        try await engine.setLocalVideoRenderer(ScriptedSink(sink))
        try await engine.startPreview()
        return engine
    }

    @Test func pushModeTakesOverAtTheFirstPush() async throws {
        let engine = try await running()
        let events = engine.events
        try await engine.setExternalVideoSource(.bytes)
        #expect(await engine.isExternalVideoSourceEnabled)
        let before = try a.deliver(0)
        #expect(before == .accepted)
        #expect(!a.calls.contains("shouldStop"))
        let pushed = engine.pushExternalVideoFrame(external())
        #expect(pushed == .accepted)
        await events.first(named: "sourceSwitched")
        let after = try a.deliver(1)
        #expect(after == .dropped(.notStarted))
        await sink.rendered(2)
        await engine.shutDown()
        #expect(sink.names == ["A", "push"])
        #expect(sink.times == sink.times.sorted())
        #expect(a.calls.suffix(2) == ["shouldStop", "shouldDispose"])
        let rest = await events.rest()
        #expect(rest.count("sourceSwitched") == 0)
    }

    @Test func turningPushModeOffBringsTheSourceBack() async throws {
        let engine = try await running()
        try await engine.setExternalVideoSource(.bytes)
        let events = engine.events
        engine.pushExternalVideoFrame(external())
        await events.first(named: "sourceSwitched")
        try a.deliverAtStart(0)
        try await engine.setExternalVideoSource(nil)
        let refused = engine.pushExternalVideoFrame(external())
        #expect(refused == .dropped(.notEnabled))
        #expect(await engine.videoSource != nil)
        await sink.rendered(2)
        await engine.shutDown()
        #expect(sink.names == ["push", "A"])
        #expect(a.calls.filter { $0 == "shouldInitialize" }.count == 2)
    }

    @Test func turningPushModeOffBeforeTheFirstPushHasNoEffect() async throws {
        let engine = try await running()
        let events = engine.events
        try await engine.setExternalVideoSource(.bytes)
        try await engine.setExternalVideoSource(nil)
        let taken = try a.deliver(0)
        #expect(taken == .accepted)
        await engine.shutDown()
        let all = await events.rest()
        #expect(all.count("sourceSwitched") == 0)
        #expect(a.calls.filter { $0 == "shouldStart" }.count == 1)
        #expect(engine.sourceTrace.suffix(2) == ["source 1: stop", "source 1: dispose"])
    }

    @Test func theDefaultSourceIsOpenedOnce() async throws {
        let backend = TestBackend()
        let engine = try await running(backend, withDefault: true)
        try await engine.setExternalVideoSource(.bytes)
        try await engine.setExternalVideoSource(nil)
        try await engine.setExternalVideoSource(.bytes)
        try await engine.setVideoSource(nil)
        #expect(await !engine.isExternalVideoSourceEnabled)
        let taken = try backend.defaultScript.deliver(0)
        #expect(taken == .accepted)
        await engine.shutDown()
        #expect(backend.defaultScript.calls.filter { $0 == "shouldInitialize" }.count == 1)
    }

    @Test func aStopBeforeTheFirstPushLeavesNothingRunning() async throws {
        let engine = try await running()
        try await engine.setExternalVideoSource(.bytes)
        try await engine.stopPreview()
        #expect(a.calls.last == "shouldDispose")
        #expect(
            engine.sourceTrace.filter { $0.hasSuffix("start") }.count
                == engine.sourceTrace.filter { $0.hasSuffix("dispose") }.count)
        let refused = engine.pushExternalVideoFrame(external())
        #expect(refused == .dropped(.notStarted))
        // Once started, push mode accepts frames at once.
        try await engine.startPreview()
        let taken = engine.pushExternalVideoFrame(external())
        #expect(taken == .accepted)
        await engine.shutDown()
    }

    @Test func sourceFailureKeepsPushModeWaiting() async throws {
        let engine = try await running()
        try await engine.setExternalVideoSource(.bytes)
        let bad = SourceScript("B")
        bad.refuse("shouldInitialize")
        await #expect(throws: EngineError.self) {
            try await engine.setVideoSource(ScriptedSource(bad))
        }
        let events = engine.events
        let pushed = engine.pushExternalVideoFrame(external())
        #expect(pushed == .accepted)
        await events.first(named: "sourceSwitched")
        await engine.shutDown()
    }

    @Test func theSourceThatPushModeReplacedCanBeSetAgain() async throws {
        let engine = makeEngine()
        let source = SharedSource(a)
        try await engine.setVideoSource(source)
        try await engine.startPreview()
        let events = engine.events
        try await engine.setExternalVideoSource(.bytes)
        engine.pushExternalVideoFrame(external())
        await events.first(named: "sourceSwitched")
        try a.deliverAtStart(0)
        try await engine.setVideoSource(source)
        #expect(await !engine.isExternalVideoSourceEnabled)
        #expect(await engine.videoSource?.refers(to: source) == true)
        let taken = try a.deliver(1)
        #expect(taken == .accepted)
        await engine.shutDown()
        #expect(a.violations == 0)
    }

    @Test func pushModeTakesOverFromPushModeOfAnotherType() async throws {
        let engine = try await running()
        let events = engine.events
        try await engine.setExternalVideoSource(.pixelBuffers)
        try await engine.setExternalVideoSource(.bytes)
        engine.pushExternalVideoFrame(external())
        await events.first(named: "sourceSwitched")
        try await engine.setExternalVideoSource(.pixelBuffers)
        let bytes = engine.pushExternalVideoFrame(external())
        #expect(bytes == .dropped(.wrongBufferType))
        let picture = ExternalVideoFrame()
        picture.format = .pixelBuffer
        picture.textureBuf = try PixelBuffer(.i420, size: VideoSize(width: 4, height: 2))
        let taken = engine.pushExternalVideoFrame(picture)
        #expect(taken == .accepted)
        await events.first(named: "sourceSwitched")
        await engine.shutDown()
    }
}
