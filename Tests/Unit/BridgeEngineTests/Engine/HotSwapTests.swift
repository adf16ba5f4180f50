import BridgeEngine
import MediaBridgeAgora
import MediaBridgeTesting
import MediaCore
import TestSupport
import Testing

/// Source changes while the engine runs: no gaps, no time jumps, no interleaved frames.
@Suite(.hangGuard, .balanced)
struct HotSwapTests {
    enum Holder: CaseIterable {
        case preview, channel, both
    }

    private func run(_ holder: Holder, _ engine: MediaEngine) async throws {
        if holder != .channel { try await engine.startPreview() }
        if holder != .preview { try await engine.joinChannel("room", userID: 1) }
    }

    @Test(arguments: Holder.allCases)
    func theNewSourceTakesOverWithItsFirstFrame(_ holder: Holder) async throws {
        let engine = makeEngine(transport: LoopbackNetwork())
        let (a, b, sink) = (SourceScript("A"), SourceScript("B"), SinkScript())
        try await engine.setVideoSource(ScriptedSource(a))
        try await engine.setLocalVideoRenderer(ScriptedSink(sink))
        let events = engine.events
        try await run(holder, engine)
        try a.deliver(0)
        await sink.rendered(1)
        try b.deliverAtStart(0)
        try await engine.setVideoSource(ScriptedSource(b))
        let late = try a.deliver(1)
        let next = try b.deliver(1)
        #expect(late == .dropped(.notStarted))
        #expect(next == .accepted)
        await sink.rendered(3)
        await engine.shutDown()
        #expect(sink.names == ["A", "B", "B"])
        #expect(sink.times == sink.times.sorted())
        let order = engine.sourceTrace
        let began = try #require(order.firstIndex(of: "source 2: start"))
        let stopped = try #require(order.firstIndex(of: "source 1: stop"))
        #expect(began < stopped)
        #expect(order[stopped + 1] == "source 1: dispose")
        let all = await events.rest()
        #expect(all.count("sourceSwitched") == 1)
        #expect(all.count("sourceFailed") == 0)
        #expect(a.violations + b.violations == 0)
    }

    @Test func theOldSourceRunsUntilTheNewOneHasAFrame() async throws {
        let (engine, a, b, sink) = (
            makeEngine(), SourceScript("A"), SourceScript("B"), SinkScript()
        )
        try await engine.setVideoSource(ScriptedSource(a))
        try await engine.setLocalVideoRenderer(ScriptedSink(sink))
        try await engine.startPreview()
        let isStarted = Happening()
        b.whenStarted { _ in isStarted.happen() }
        let swap = Task { try await engine.setVideoSource(ScriptedSource(b)) }
        await isStarted.wait()
        let meanwhile = try a.deliver(0)
        #expect(meanwhile == .accepted)
        await sink.rendered(1)
        #expect(!a.calls.contains("shouldStop"))
        try b.deliver(0)
        try await swap.value
        await sink.rendered(2)
        await engine.shutDown()
        #expect(sink.names == ["A", "B"])
    }

    @Test func theSameSourceAgainChangesNothing() async throws {
        let (engine, a) = (makeEngine(), SourceScript("A"))
        let source = SharedSource(a)
        try await engine.setVideoSource(source)
        try await engine.startPreview()
        let events = engine.events
        try await engine.setVideoSource(source)
        let reference = await engine.videoSource
        #expect(reference?.refers(to: source) == true)
        let taken = try a.deliver(0)
        #expect(taken == .accepted)
        await engine.shutDown()
        let all = await events.rest()
        #expect(all.count("warning") == 1)
        #expect(all.count("sourceSwitched") == 0)
        #expect(a.calls.filter { $0 == "shouldStart" }.count == 1)
    }

    @Test func switchingBackRestartsTheFirstSource() async throws {
        let (engine, a, b, sink) = (
            makeEngine(), SourceScript("A"), SourceScript("B"), SinkScript()
        )
        let source = SharedSource(a)
        try a.deliverAtStart(0)
        try b.deliverAtStart(0)
        try await engine.setVideoSource(source)
        try await engine.setLocalVideoRenderer(ScriptedSink(sink))
        try await engine.startPreview()
        // A frame still in transit when another source takes over is dropped.
        await sink.rendered(1)
        try await engine.setVideoSource(ScriptedSource(b))
        await sink.rendered(2)
        try await engine.setVideoSource(source)
        await sink.rendered(3)
        await engine.shutDown()
        #expect(sink.names == ["A", "B", "A"])
        #expect(
            a.calls.filter { $0 != "bufferType" } == [
                "shouldInitialize", "shouldStart", "shouldStop", "shouldDispose",
                "shouldInitialize", "shouldStart", "shouldStop", "shouldDispose",
            ])
    }

    @Test func nilBringsTheDefaultSourceBackWhileRunning() async throws {
        let backend = TestBackend()
        let (engine, a, sink) = (makeEngine(backend), SourceScript("A"), SinkScript())
        try await engine.setVideoSource(ScriptedSource(a))
        try await engine.setLocalVideoRenderer(ScriptedSink(sink))
        try await engine.startPreview()
        try a.deliver(0)
        try backend.defaultScript.deliverAtStart(0)
        try await engine.setVideoSource(nil)
        #expect(await engine.videoSource == nil)
        await sink.rendered(2)
        #expect(a.calls.suffix(2) == ["shouldStop", "shouldDispose"])
        await a.gone.wait()
        await engine.shutDown()
        #expect(sink.names == ["A", ""])
    }

    @Test func aSourceMayBeChangedWhileNothingRuns() async throws {
        let (engine, a, b) = (makeEngine(), SourceScript("A"), SourceScript("B"))
        try await engine.setVideoSource(ScriptedSource(a))
        try await engine.setVideoSource(ScriptedSource(b))
        await a.gone.wait()
        #expect(a.calls.isEmpty)
        try await engine.startPreview()
        #expect(b.calls.contains("shouldStart"))
        await engine.shutDown()
    }
}
