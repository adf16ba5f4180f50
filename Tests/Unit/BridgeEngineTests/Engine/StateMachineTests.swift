import BridgeEngine
import MediaBridgeAgora
import MediaCore
import TestSupport
import Testing

/// The state machine of sources and renderers: every transition, repetition and failure, checked in
/// the trace.
@Suite(.hangGuard, .balanced)
struct StateMachineTests {
    let whole = ["query", "initialize", "start", "stop", "dispose"].map { "source 1: \($0)" }

    @Test func previewCallsTheSourceInTheDocumentedOrder() async throws {
        let (engine, script) = (makeEngine(), SourceScript())
        try await engine.setVideoSource(ScriptedSource(script))
        #expect(engine.trace.isEmpty)
        try await engine.startPreview()
        #expect(engine.sourceTrace == Array(whole[0...2]))
        try await engine.stopPreview()
        #expect(engine.sourceTrace == whole)
        #expect(
            script.calls == [
                "bufferType", "shouldInitialize", "shouldStart", "shouldStop", "shouldDispose",
            ])
        #expect(script.violations == 0)
    }

    @Test func consumerIsSetFromInitializeToDispose() async throws {
        let (engine, script) = (makeEngine(), SourceScript())
        try await engine.setVideoSource(ScriptedSource(script))
        #expect(script.consumer == nil)
        try await engine.startPreview()
        #expect(script.consumer != nil)
        let reference = await engine.videoSource
        try await engine.stopPreview()
        let isGone = await reference?.perform { $0.consumer == nil }
        #expect(isGone == true)
    }

    @Test func secondPreviewReinitializesWithoutNewQueries() async throws {
        let (engine, script) = (makeEngine(), SourceScript())
        try await engine.setVideoSource(ScriptedSource(script))
        for _ in 0..<2 {
            try await engine.startPreview()
            try await engine.stopPreview()
        }
        #expect(engine.sourceTrace == whole + whole.dropFirst())
    }

    @Test func restartRestartsOrReopensTheSource() async throws {
        let (engine, script) = (makeEngine(), SourceScript())
        try await engine.setVideoSource(ScriptedSource(script))
        try await engine.startPreview()
        try await engine.restartVideoSource()
        #expect(engine.sourceTrace.suffix(2) == ["source 1: stop", "source 1: start"])
        try await engine.restartVideoSource(reopening: true)
        #expect(engine.sourceTrace.suffix(4) == whole[3...] + whole[1...2])
        let taken = try script.deliver(0)
        #expect(taken == .accepted)
        await engine.shutDown()
    }

    @Test func refusedInitialiseFailsAndNamesTheCall() async throws {
        let (engine, script) = (makeEngine(), SourceScript())
        script.refuse("shouldInitialize")
        try await engine.setVideoSource(ScriptedSource(script))
        let error = await #expect(throws: EngineError.self) { try await engine.startPreview() }
        #expect(error?.code == .sourceNotInitialized)
        #expect(error?.call == "shouldInitialize")
        #expect(engine.sourceTrace == ["source 1: query", "source 1: initialize (refused)"])
        #expect(await !engine.isPreviewing)
        // The source may be ready at the next start.
        script.mend()
        try await engine.startPreview()
        #expect(await engine.isPreviewing)
        await engine.shutDown()
    }

    @Test func errorContainsTheReasonThrownByInitialize() async throws {
        let (engine, script) = (makeEngine(), SourceScript())
        script.fail("shouldInitialize", "the lens cap is on")
        try await engine.setVideoSource(ScriptedSource(script))
        let error = await #expect(throws: EngineError.self) { try await engine.startPreview() }
        #expect(error?.underlying as? Refusal == Refusal(reason: "the lens cap is on"))
        #expect(error?.description.contains("ScriptedSource") == true)
        #expect(error?.description.contains("the lens cap is on") == true)
        #expect(engine.sourceTrace.last == "source 1: initialize (threw)")
    }

    @Test func errorInStartDisposesTheSourceAndNamesTheCall() async throws {
        let (engine, script) = (makeEngine(), SourceScript())
        script.fail("shouldStart")
        try await engine.setVideoSource(ScriptedSource(script))
        let error = await #expect(throws: EngineError.self) { try await engine.startPreview() }
        #expect(error?.code == .sourceNotStarted)
        #expect(error?.call == "shouldStart")
        #expect(
            engine.sourceTrace == [
                "source 1: query", "source 1: initialize", "source 1: start (threw)",
                "source 1: dispose",
            ])
    }

    @Test func errorInStopOrDisposeIsAnEventAndTheStateAdvances() async throws {
        let (engine, script) = (makeEngine(), SourceScript())
        script.fail("shouldStop")
        try await engine.setVideoSource(ScriptedSource(script))
        let events = engine.events
        try await engine.startPreview()
        try await engine.stopPreview()
        let code = await events.first { event -> EngineError.Code? in
            if case .sourceFailed(_, let error) = event { return error.code } else { return nil }
        }
        #expect(code == .sourceFailed)
        #expect(engine.sourceTrace.suffix(2) == ["source 1: stop (threw)", "source 1: dispose"])
    }

    @Test func framesOutsideOfStartedAreDiscardedAndCounted() async throws {
        let (engine, script, sink) = (makeEngine(), SourceScript(), SinkScript())
        try await engine.setVideoSource(ScriptedSource(script))
        try await engine.setLocalVideoRenderer(ScriptedSink(sink))
        try await engine.startPreview()
        let inside = try script.deliver(0)
        await sink.rendered(1)
        try await engine.stopPreview()
        // The source keeps and uses its consumer after the stop.
        let after = try script.deliver(1)
        #expect(inside == .accepted)
        #expect(after == .dropped(.notStarted))
        let statistics = await engine.statistics
        #expect(statistics.local[.main]?.delivered == 2)
        #expect(statistics.local[.main]?.accepted == 1)
        #expect(statistics.local[.main]?.dropped[.notStarted] == 1)
        #expect(sink.frames.count == 1)
    }

    @Test func frameDeliveredDuringStartWaitsForItsResult() async throws {
        let (engine, script, sink) = (makeEngine(), SourceScript(), SinkScript())
        script.whenStarted { consumer in
            if let early = try? frame(5) { consumer.consume(early) }
        }
        try await engine.setVideoSource(ScriptedSource(script))
        try await engine.setLocalVideoRenderer(ScriptedSink(sink))
        try await engine.startPreview()
        await sink.rendered(1)
        await engine.shutDown()
        #expect(sink.frames.count == 1)
    }

    @Test func rendererTransitionsFollowTheSameOrder() async throws {
        let (engine, sink) = (makeEngine(), SinkScript())
        try await engine.setVideoSource(ScriptedSource(SourceScript()))
        try await engine.setLocalVideoRenderer(ScriptedSink(sink))
        try await engine.startPreview()
        try await engine.stopPreview()
        #expect(
            engine.rendererTrace == [
                "video sink 1: query", "video sink 1: initialize", "video sink 1: start",
                "video sink 1: stop", "video sink 1: dispose",
            ])
        // The renderer is started before the first frame can arrive.
        let order = engine.trace
        let rendererStart = try #require(order.firstIndex(of: "video sink 1: start"))
        let sourceStart = try #require(order.firstIndex(of: "source 1: start"))
        #expect(rendererStart < sourceStart)
        #expect(sink.violations == 0)
    }

    @Test(arguments: ["shouldInitialize", "shouldStart"])
    func rendererStartFailureDoesNotAffectOthers(_ call: String) async throws {
        let (engine, bad, good) = (makeEngine(), SinkScript(), SinkScript())
        let source = SourceScript()
        bad.fail(call)
        try await engine.setVideoSource(ScriptedSource(source))
        try await engine.setLocalVideoRenderer(ScriptedSink(bad))
        try await engine.addVideoSink(ScriptedSink(good), to: .local())
        let events = engine.events
        try await engine.startPreview()
        let error = await events.first { event -> EngineError? in
            if case .sinkFailed(.video, let error) = event { return error } else { return nil }
        }
        #expect(error?.call == call)
        try source.deliver(0)
        await good.rendered(1)
        #expect(bad.frames.isEmpty)
        await engine.shutDown()
    }

    @Test func refusalOfARendererIsThrownWhileTheEngineRuns() async throws {
        let (engine, sink) = (makeEngine(), SinkScript())
        sink.refuse("shouldInitialize")
        try await engine.setVideoSource(ScriptedSource(SourceScript()))
        try await engine.startPreview()
        let error = await #expect(throws: EngineError.self) {
            try await engine.setLocalVideoRenderer(ScriptedSink(sink))
        }
        #expect(error?.code == .sinkNotInitialized)
        #expect(await engine.localVideoRenderer == nil)
        await engine.shutDown()
    }

    @Test func repeatedStartPreviewCountsOnce() async throws {
        let (engine, script) = (makeEngine(), SourceScript())
        try await engine.setVideoSource(ScriptedSource(script))
        let events = engine.events
        try await engine.startPreview()
        try await engine.startPreview()
        let warning = await events.first { event -> String? in
            if case .warning(let text) = event { return text } else { return nil }
        }
        #expect(warning?.contains("preview") == true)
        try await engine.stopPreview()
        #expect(engine.sourceTrace == whole)
    }

    @Test func nilRestoresTheDefaultSource() async throws {
        let backend = TestBackend()
        let (engine, script) = (makeEngine(backend), SourceScript())
        try await engine.setVideoSource(ScriptedSource(script))
        #expect(await engine.videoSource != nil)
        try await engine.setVideoSource(nil)
        #expect(await engine.videoSource == nil)
        try await engine.startPreview()
        #expect(backend.defaultScript.calls.contains("shouldStart"))
        #expect(script.calls.isEmpty)
        await engine.shutDown()
    }

    @Test func releasedEngineStopsAndDisposesItsSource() async throws {
        let script = SourceScript()
        var engine: MediaEngine? = makeEngine(isKept: false)
        try await engine?.setVideoSource(ScriptedSource(script))
        try await engine?.startPreview()
        let events = engine?.events
        engine = nil
        // The events end with the engine; then the source is disposed of on its own thread.
        _ = await events?.first { _ in nil as Int? }
        await script.gone.wait()
        #expect(script.calls.suffix(2) == ["shouldStop", "shouldDispose"])
    }

    @Test func everyCallThrowsAfterShutDown() async throws {
        let engine = makeEngine()
        await engine.shutDown()
        let error = await #expect(throws: EngineError.self) { try await engine.startPreview() }
        #expect(error?.code == .shutDown)
        await engine.shutDown()
    }
}
