import BridgeEngine
import MediaBridgeAgora
import MediaCore
import TestSupport
import Testing

/// File sources: the engine holds their frames until they are due, and releases them early if it
/// must.
@Suite(.hangGuard, .balanced)
struct PacingTests {
    private let hour = 3_600_000

    @Test func framesAreHeldUntilTheyAreDue() async throws {
        let (engine, file, sink) = (
            makeEngine(), SourceScript(needsPacing: true), SinkScript()
        )
        try await engine.setVideoSource(ScriptedSource(file))
        try await engine.setLocalVideoRenderer(ScriptedSink(sink))
        try await engine.startPreview()
        #expect(try file.deliver(0) == .accepted)
        for number in 1..<5 {
            async let delivery = blocking { try? file.deliver(number * 20) }
            await sink.rendered(number)
            await engine.time.alarms(in: .milliseconds(20))
            #expect(sink.frames.count == number)
            engine.time.advance(by: .milliseconds(20))
            #expect(await delivery == .accepted)
        }
        await engine.shutDown()
        let times = sink.frames.compactMap(\.runningTime)
        #expect(times == (0..<5).map { MediaTime(.milliseconds($0 * 20)) })
    }

    @Test func aStopDoesNotWaitForAFrameThatIsDueInAnHour() async throws {
        let (engine, file) = (makeEngine(), SourceScript(needsPacing: true))
        try await engine.setVideoSource(ScriptedSource(file))
        try await engine.startPreview()
        try file.deliver(0)
        let held = Pump(file, from: hour)
        await engine.time.alarms(in: .seconds(3600))
        // The source's own stop waits for its thread, like a pipeline's.
        file.state.withLock { $0.onCall = { if $0 == "shouldStop" { held.join() } } }
        let events = engine.events
        try await engine.stopPreview()
        #expect(held.accepted == 0)
        await engine.shutDown()
        #expect(await events.rest().count("sourceFailed") == 0)
    }

    @Test func framesDeliveredDuringStartDoNotBlockIt() async throws {
        let (engine, file) = (makeEngine(), SourceScript(needsPacing: true))
        let hour = self.hour
        file.whenStarted { consumer in
            for number in 0..<3 {
                if let frame = try? frame(number * hour) { consumer.consume(frame) }
            }
        }
        try await engine.setVideoSource(ScriptedSource(file))
        try await engine.startPreview()
        try await engine.stopPreview()
        #expect(engine.sourceTrace.last == "source 1: dispose")
        await engine.shutDown()
    }

    @Test func sourceMayDeliverAllItsFramesDuringStart() async throws {
        let (engine, file, sink) = (makeEngine(), SourceScript(), SinkScript())
        file.whenStarted { consumer in
            for number in 0..<50 {
                if let frame = try? frame(number) { consumer.consume(frame) }
            }
        }
        try await engine.setVideoSource(ScriptedSource(file))
        try await engine.setLocalVideoRenderer(ScriptedSink(sink))
        try await engine.startPreview()
        await sink.rendered(4)
        let track = await engine.statistics.local[.main]
        await engine.shutDown()
        // Frames that find no room are counted, and do not block the start.
        #expect(track?.delivered == 50)
        #expect(track?.dropped[.queueFull] == 46)
    }

    @Test func waitingFileIsReplacedWithoutAJumpInTime() async throws {
        let engine = makeEngine()
        let (file, live, sink) = (
            SourceScript("file", needsPacing: true), SourceScript("live"), SinkScript()
        )
        try await engine.setVideoSource(ScriptedSource(file))
        try await engine.setLocalVideoRenderer(ScriptedSink(sink))
        try await engine.startPreview()
        try file.deliver(0)
        let held = Pump(file, from: hour)
        await engine.time.alarms(in: .seconds(3600))
        try live.deliverAtStart(0)
        try await engine.setVideoSource(ScriptedSource(live))
        await sink.rendered(2)
        await held.stop()
        let now = engine.runningTime
        await engine.shutDown()
        #expect(sink.names == ["file", "live"])
        let times = sink.frames.compactMap(\.runningTime)
        #expect(times == times.sorted())
        // Frames of a track are at least 1 ms apart, even if the second one arrives sooner.
        #expect(try #require(times.last) <= now + MediaTime(seconds: 0.001))
    }

    @Test func timeIncreasesFromFileToLiveAndBack() async throws {
        let (backend, sink) = (TestBackend(), SinkScript())
        let engine = makeEngine(backend)
        try await engine.setLocalVideoRenderer(ScriptedSink(sink))
        let (one, two) = (
            SourceScript("1", needsPacing: true), SourceScript("3", needsPacing: true)
        )
        let live = SourceScript("2")
        let picture = try live.named(0)
        live.whenStarted { consumer in
            var frame = picture
            frame.liveTiming = LiveTiming(clockOrigin: .zero, latency: .zero)
            frame.runningTime = backend.clockTime()
            consumer.consume(frame)
        }
        try one.deliverAtStart(500)
        try two.deliverAtStart(0)
        try await engine.setVideoSource(ScriptedSource(one))
        try await engine.startPreview()
        await sink.rendered(1)
        engine.time.advance(by: .milliseconds(5))
        try await engine.setVideoSource(ScriptedSource(live))
        // A frame still in transit when another source takes over is dropped.
        await sink.rendered(2)
        engine.time.advance(by: .milliseconds(5))
        try await engine.setVideoSource(ScriptedSource(two))
        async let delivery = blocking { try? two.deliver(30) }
        await engine.time.follow(within: .milliseconds(40))
        #expect(await delivery == .accepted)
        await sink.rendered(4)
        await engine.shutDown()
        #expect(sink.names == ["1", "2", "3", "3"])
        let times = sink.frames.compactMap(\.runningTime)
        #expect(times == times.sorted())
    }

    /// Frames with timestamps of 30 per second arrive at another rate.
    @Test(arguments: [40, 50, 100, 250, 700])
    func slowSourceKeepsItsArrivalIntervals(interval: Int) async throws {
        let timed = try await TimedEngine(needsPacing: true)
        let events = timed.engine.events
        for number in 0..<60 {
            timed.backend.time.advance(
                to: timed.start + MediaTime(.milliseconds(number * interval)))
            let stamp = MediaTime(value: Int64(number), timescale: 30)
            #expect(timed.source.deliver(try timed.own(stamp, from: timed.source)) == .accepted)
        }
        let times = await timed.rendered(60)
        await timed.engine.shutDown()
        // Slowness is known from the third noticeably late frame on.
        let known = 2 + (20 / (interval - 33)) + 2
        let steps = zip(times.dropFirst(known), times.dropFirst(known + 1)).map { $1 - $0 }
        #expect(steps.allSatisfy { $0 == MediaTime(.milliseconds(interval)) }, "\(steps)")
        // Each frame is shown when it arrives.
        #expect(times.last == timed.start + MediaTime(.milliseconds(59 * interval)))
        #expect(await events.rest().count("warning") == 1)
    }

    @Test func aSingleDelayIsCaughtUpWithoutAShift() async throws {
        let timed = try await TimedEngine(needsPacing: true)
        let events = timed.engine.events
        let frame = MediaTime(.milliseconds(40))
        var stamp = MediaTime.zero
        for number in 0..<30 {
            // The tenth frame is 300 ms late; those after it arrive in quick succession.
            let due = timed.start + stamp
            let now = timed.backend.clockTime()
            timed.backend.time.advance(
                to: number == 10 ? due + MediaTime(.milliseconds(300)) : max(due, now))
            #expect(timed.source.deliver(try timed.own(stamp, from: timed.source)) == .accepted)
            stamp = stamp + frame
        }
        let times = await timed.rendered(30)
        await timed.engine.shutDown()
        let steps = zip(times, times.dropFirst()).map { $1 - $0 }
        #expect(steps.allSatisfy { $0 == frame }, "\(steps)")
        #expect(await events.rest().count("warning") == 0)
    }
}
