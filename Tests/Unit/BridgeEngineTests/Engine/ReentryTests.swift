import BridgeEngine
import MediaBridgeAgora
import MediaCore
import TestSupport
import Testing

/// The program's callbacks call back into the engine.
@Suite(.hangGuard, .balanced)
struct ReentryTests {
    @Test func rendererMayStopThePreviewInATask() async throws {
        let (engine, source, sink) = (makeEngine(), SourceScript(), SinkScript())
        let isStopped = Happening()
        sink.whenRendering { _ in
            Task {
                try? await engine.stopPreview()
                isStopped.happen()
            }
        }
        try await engine.setVideoSource(ScriptedSource(source))
        try await engine.setLocalVideoRenderer(ScriptedSink(sink))
        try await engine.startPreview()
        try source.deliver(0)
        await isStopped.wait()
        #expect(await !engine.isPreviewing)
        #expect(sink.calls.last == "shouldDispose")
        await engine.shutDown()
        // The program must release the renderer's reference to the engine; this releases it.
        sink.state.withLock { $0.onRender = nil }
    }

    @Test func rendererThatBlocksOnStopTimesOut() async throws {
        let engine = makeEngine()
        let (source, sink, good) = (SourceScript(), SinkScript(), SinkScript())
        sink.whenRendering { _ in blockingWait { try? await engine.stopPreview() } }
        try await engine.setVideoSource(ScriptedSource(source))
        try await engine.setLocalVideoRenderer(ScriptedSink(sink))
        try await engine.addVideoSink(ScriptedSink(good), to: .local())
        let events = engine.events
        try await engine.startPreview()
        try source.deliver(0)
        // The renderer waits for the stop, and the stop waits for the renderer.
        await good.called("shouldDispose")
        await engine.time.expire(engine.configuration.callTimeout)
        await events.first(named: "sinkFailed")
        await sink.rendered(1)
        #expect(await !engine.isPreviewing)
        #expect(good.calls.last == "shouldDispose")
        sink.state.withLock { $0.onRender = nil }
        await engine.shutDown()
    }

    @Test func sourceThatBlocksOnTheEngineTimesOut() async throws {
        let engine = makeEngine()
        let source = SourceScript()
        let isInside = Happening()
        source.whenStarted { _ in
            isInside.happen()
            blockingWait { try? await engine.stopPreview() }
        }
        try await engine.setVideoSource(ScriptedSource(source))
        let start = Task { try await engine.startPreview() }
        await isInside.wait()
        await engine.time.expire(engine.configuration.callTimeout)
        let error = await #expect(throws: EngineError.self) { try await start.value }
        #expect(error?.code == .stuck)
        source.state.withLock { $0.delivers = nil }
        await engine.shutDown()
        await source.gone.wait()
        #expect(source.calls.last == "shouldDispose")
    }

    @Test func aRendererMayPushIntoTheSameEngine() async throws {
        let (engine, sink) = (makeEngine(), SinkScript())
        let result = Happening()
        sink.whenRendering { _ in
            // The push works like any other: no lock is held here.
            engine.pushExternalVideoFrame(external())
            result.happen()
        }
        try await engine.setExternalVideoSource(.bytes)
        try await engine.setLocalVideoRenderer(ScriptedSink(sink))
        try await engine.startPreview()
        engine.pushExternalVideoFrame(external())
        await result.wait()
        await sink.rendered(3)
        sink.state.withLock { $0.onRender = nil }
        await engine.shutDown()
        #expect(sink.violations == 0)
    }

    @Test func aProgramMayReachItsRendererBetweenFrames() async throws {
        let (engine, source, sink) = (makeEngine(), SourceScript(), SinkScript())
        let object = SharedSink(sink)
        try await engine.setVideoSource(ScriptedSource(source))
        try await engine.setLocalVideoRenderer(object)
        try await engine.startPreview()
        let reference = await engine.localVideoRenderer
        #expect(reference?.refers(to: object) == true)
        let isShared = await reference?.perform { $0 is SharedSink }
        #expect(isShared == true)
        try await engine.setLocalVideoRenderer(nil)
        #expect(await engine.localVideoRenderer == nil)
        await engine.shutDown()
    }

    @Test func rendererCanBeAttachedOnlyOnce() async throws {
        let (engine, sink) = (makeEngine(), SinkScript())
        let object = SharedSink(sink)
        let events = engine.events
        try await engine.setLocalVideoRenderer(object)
        try await engine.setLocalVideoRenderer(object)
        let error = await #expect(throws: EngineError.self) {
            try await engine.addVideoSink(object, to: .remote("anna"))
        }
        #expect(error?.code == .invalidArgument)
        await engine.shutDown()
        #expect(await events.rest().count("warning") == 1)
    }
}
