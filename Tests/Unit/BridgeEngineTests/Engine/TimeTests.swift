import BridgeEngine
import MediaBridgeAgora
import MediaCore
import TestSupport
import Testing

/// How source timestamps become the engine's running time, which always increases.
@Suite(.hangGuard, .balanced)
struct TimeTests {
    /// An engine with one renderer that loses no frame.
    private func running(
        _ script: SourceScript, _ sink: SinkScript,
        _ change: (inout MediaEngine.Configuration) -> Void = { _ in }
    ) async throws -> MediaEngine {
        let engine = makeEngine { change(&$0) }
        var options = SinkOptions()
        options.whenFull = .wait
        try await engine.setVideoSource(ScriptedSource(script))
        try await engine.setLocalVideoRenderer(ScriptedSink(sink), options: options)
        try await engine.startPreview()
        return engine
    }

    private func frame(at time: MediaTime?, live: LiveTiming? = nil) throws -> VideoFrame {
        var frame = try BridgeEngineTests.frame()
        (frame.runningTime, frame.liveTiming) = (time, live)
        return frame
    }

    @Test func missingNegativeAndUnorderedTimesAreRefused() async throws {
        let (script, sink) = (SourceScript(), SinkScript())
        let engine = try await running(script, sink)
        let none = script.deliver(try frame(at: nil))
        let negative = script.deliver(try frame(at: MediaTime(nanoseconds: -1)))
        let farNegative = script.deliver(try frame(at: MediaTime(nanoseconds: .min)))
        let first = try script.deliver(100)
        let back = try script.deliver(90)
        let on = try script.deliver(110)
        #expect(none == .dropped(.noTime))
        #expect([negative, farNegative] == [.dropped(.badTime), .dropped(.badTime)])
        #expect([first, on] == [.accepted, .accepted])
        #expect(back == .dropped(.backwards))
        await sink.rendered(2)
        await engine.shutDown()
        #expect(sink.frames.count == 2)
    }

    @Test func identicalTimestampsAreReplacedByArrivalTimes() async throws {
        let (script, sink) = (SourceScript(), SinkScript())
        let engine = try await running(script, sink)
        for _ in 0..<5 {
            let result = try script.deliver(0)
            #expect(result == .accepted)
        }
        await sink.rendered(5)
        await engine.shutDown()
        let times = sink.frames.compactMap(\.runningTime)
        #expect(times == times.sorted())
        // If the source's clock stops, the running time still advances.
        #expect(Set(times).count > 1)
    }

    @Test(arguments: [
        MediaTime(seconds: 1_760_000_000), MediaTime(seconds: 3600),
        MediaTime(nanoseconds: .max - 100_000_000), .zero,
    ])
    func sourceTimeOfAnyOriginBecomesEngineTime(_ zero: MediaTime) async throws {
        let (script, sink) = (SourceScript(), SinkScript())
        let engine = try await running(script, sink)
        let before = engine.runningTime
        for number in 0..<3 {
            let time = zero + MediaTime(.milliseconds(number))
            let result = script.deliver(try frame(at: time))
            #expect(result == .accepted)
        }
        await sink.rendered(3)
        let after = engine.runningTime
        await engine.shutDown()
        let times = sink.frames.compactMap(\.runningTime)
        #expect(times == times.sorted())
        #expect(try #require(times.first) >= .zero)
        #expect(try #require(times.last) <= after + MediaTime(seconds: 1))
        #expect(before >= .zero)
    }

    @Test func permanentBackwardStepIsAcceptedAfterAWhile() async throws {
        let (script, sink) = (SourceScript(), SinkScript())
        let engine = try await running(script, sink)
        try script.deliver(1_000_000)
        var refused = 0
        for number in 0..<100 {
            let result = try script.deliver(number)
            if result == .dropped(.backwards) { refused += 1 } else { break }
        }
        #expect(refused > 0)
        #expect(refused < 100)
        let next = try script.deliver(200)
        #expect(next == .accepted)
        await sink.rendered(3)
        await engine.shutDown()
        let times = sink.frames.compactMap(\.runningTime)
        #expect(times == times.sorted())
    }

    @Test func liveFramesKeepTheirClockTime() async throws {
        let (backend, script, sink) = (TestBackend(), SourceScript(), SinkScript())
        let engine = makeEngine(backend) { $0.latency = .milliseconds(70) }
        try await engine.setVideoSource(ScriptedSource(script))
        try await engine.setLocalVideoRenderer(ScriptedSink(sink))
        try await engine.startPreview()
        // The capture began before the engine did, and reports 20 ms of latency.
        let now = backend.clockTime()
        let origin = now - MediaTime(seconds: 5)
        let live = LiveTiming(clockOrigin: origin, latency: MediaTime(.milliseconds(20)))
        let result = script.deliver(try frame(at: now - origin, live: live))
        #expect(result == .accepted)
        await sink.rendered(1)
        await engine.shutDown()
        let shown = try #require(sink.frames.first)
        let timing = try #require(shown.liveTiming)
        let moment = timing.clockOrigin + (shown.runningTime ?? .zero)
        #expect(moment == now)
        #expect(timing.latency == MediaTime(.milliseconds(70)))
    }

    @Test func earlyAndLateLiveFramesAreRefused() async throws {
        let (backend, script) = (TestBackend(), SourceScript())
        let engine = makeEngine(backend)
        try await engine.setVideoSource(ScriptedSource(script))
        try await engine.startPreview()
        let now = backend.clockTime()
        let live = LiveTiming(clockOrigin: now - MediaTime(seconds: 60), latency: .zero)
        let early = script.deliver(try frame(at: .zero, live: live))
        #expect(early == .dropped(.early))
        await engine.shutDown()
    }

    @Test func liveFrameFromTheFutureUsesItsOwnClock() async throws {
        let (backend, script, sink) = (TestBackend(), SourceScript(), SinkScript())
        let engine = makeEngine(backend)
        try await engine.setVideoSource(ScriptedSource(script))
        try await engine.setLocalVideoRenderer(ScriptedSink(sink))
        try await engine.startPreview()
        let live = LiveTiming(
            clockOrigin: backend.clockTime() + MediaTime(seconds: 3600), latency: .zero)
        let result = script.deliver(try frame(at: .zero, live: live))
        #expect(result == .accepted)
        await sink.rendered(1)
        let now = engine.runningTime
        await engine.shutDown()
        // The frame does not advance the time of its successors by an hour.
        #expect(try #require(sink.frames.first?.runningTime) <= now)
    }
}
