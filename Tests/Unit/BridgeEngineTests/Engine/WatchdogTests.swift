import BridgeEngine
import MediaBridgeAgora
import MediaCore
import TestSupport
import Testing

/// A stalled source: reported once, and bridged if configured.
@Suite(.hangGuard, .balanced)
struct WatchdogTests {
    let source = SourceScript("A")
    let sink = SinkScript()

    private func running(
        _ source: SourceScript, _ change: (inout MediaEngine.Configuration) -> Void = { _ in }
    ) async throws -> MediaEngine {
        let engine = makeEngine(TestBackend(), change)
        try await engine.setVideoSource(ScriptedSource(source))
        try await engine.setLocalVideoRenderer(ScriptedSink(sink))
        try await engine.startPreview()
        return engine
    }

    @Test func stalledSourceIsReportedOnceAndSoIsItsRecovery() async throws {
        let engine = try await running(source)
        let events = engine.events
        try source.deliver(0)
        engine.time.advance(by: .seconds(10))
        let silence = await events.first { event -> Duration? in
            if case .sourceStalled(.video(.main), let silence) = event {
                return silence
            } else {
                return nil
            }
        }
        // At the first check after the limit of 4 s.
        #expect(silence == .milliseconds(4100))
        try source.deliver(1000)
        engine.time.advance(by: .milliseconds(100))
        await events.first(named: "sourceResumed")
        await engine.shutDown()
        #expect(sink.frames.count == 2)
    }

    @Test func lastFrameIsShownUntilTheNextArrives() async throws {
        let engine = try await running(source) { $0.fallback = .lastPicture }
        let events = engine.events
        let picture = try source.named(0)
        source.deliver(picture)
        engine.time.advance(by: .seconds(5))
        await sink.rendered(4)
        #expect(sink.frames.allSatisfy { $0.storage === picture.storage })
        let next = try source.named(5000)
        source.deliver(next)
        engine.time.advance(by: .milliseconds(100))
        await events.first(named: "sourceResumed")
        let statistics = await engine.statistics.local[.main]
        #expect(try #require(statistics).fallbackFrames >= 3)
        #expect(statistics?.accepted == 2)
        await engine.shutDown()
        let times = sink.frames.compactMap(\.runningTime)
        #expect(times == times.sorted())
        #expect(sink.frames.contains { $0.storage === next.storage })
    }

    @Test func stillImageIsShownBeforeAnyFrame() async throws {
        let still = try PixelBuffer(.i420, size: VideoSize(width: 4, height: 2))
        let engine = try await running(source) { $0.fallback = .still(still) }
        engine.time.advance(by: .seconds(5))
        await sink.rendered(3)
        let events = engine.events
        let picture = try source.named(0)
        source.deliver(picture)
        engine.time.advance(by: .milliseconds(100))
        await events.first(named: "sourceResumed")
        await engine.shutDown()
        #expect(sink.frames[0].storage === still.storage)
        let first = sink.frames.firstIndex { $0.storage === picture.storage }
        #expect(first != nil)
    }

    @Test func nextSourceEndsTheStall() async throws {
        let engine = try await running(source) { $0.fallback = .lastPicture }
        let events = engine.events
        try source.deliver(0)
        engine.time.advance(by: .seconds(5))
        await events.first(named: "sourceStalled")
        let next = SourceScript("B")
        try next.deliverAtStart(0)
        try await engine.setVideoSource(ScriptedSource(next))
        await events.first(named: "sourceResumed")
        await engine.shutDown()
        // The old picture is not shown after the new one.
        let names = sink.names.map { $0 == "B" }
        #expect(names.firstIndex(of: true) != nil)
    }

    @Test func endedSourceIsNotStalled() async throws {
        let engine = try await running(source)
        let events = engine.events
        let news = engine.events
        try source.deliver(0)
        source.consumer?.sourceDidEnd()
        source.consumer?.sourceDidEnd()
        await news.first(named: "sourceEnded")
        engine.time.advance(by: .seconds(10))
        await engine.shutDown()
        let all = await events.rest()
        #expect(all.count("sourceStalled") == 0)
    }

    @Test func pacedFileSourceIsNotStalled() async throws {
        let file = SourceScript(needsPacing: true)
        let engine = try await running(file)
        let events = engine.events
        try file.deliver(0)
        let held = Pump(file, from: 3_600_000)
        await engine.time.alarms(in: .seconds(3600))
        engine.time.advance(by: .seconds(10))
        try await engine.stopPreview()
        await held.stop()
        await engine.shutDown()
        #expect(await events.rest().count("sourceStalled") == 0)
    }

    @Test func endDuringStartIsReported() async throws {
        source.whenStarted { $0.sourceDidEnd() }
        let engine = makeEngine()
        try await engine.setVideoSource(ScriptedSource(source))
        let events = engine.events
        try await engine.startPreview()
        await events.first(named: "sourceEnded")
        await engine.shutDown()
        #expect(await events.rest().count("sourceEnded") == 0)
    }
}
