import BridgeEngine
import MediaCore
import TestSupport
import Testing

/// Live sources, whose frames always arrive after their capture.
@Suite(.hangGuard)
struct LateSourceTests {
    /// Delivers a frame of the current source every 40 ms, timestamped with the engine's time.
    private func play(_ timed: TimedEngine, from start: MediaTime, _ frames: Int) throws {
        for number in 0..<frames {
            let time = start + .milliseconds(Double(number) * 40)
            timed.backend.time.advance(to: time)
            let result = timed.source.deliver(try timed.own(time, from: timed.source))
            #expect(result == .accepted)
        }
    }

    @Test(arguments: [0, 1, 20, 40, 100, 160, 200, 500, 1500])
    func firstFrameTakesOverHoweverLateItIs(_ lateness: Int) async throws {
        let timed = try await TimedEngine()
        try play(timed, from: timed.start, 5)
        let late = MediaTime.milliseconds(Double(lateness))
        let next = SourceScript("B")
        let first = try timed.live(timed.backend.clockTime() - late, from: next)
        next.whenStarted { $0.consume(first) }
        try await timed.engine.setVideoSource(ScriptedSource(next))
        let taken = timed.backend.clockTime()
        for number in 1...100 {
            let captured = taken + .milliseconds(Double(number) * 33)
            timed.backend.time.advance(to: captured + late)
            let result = next.deliver(try timed.live(captured, from: next))
            #expect(result == .accepted, "frame \(number)")
        }
        let times = await timed.rendered(106)
        await timed.engine.shutDown()
        let names = Array(repeating: "A", count: 5) + Array(repeating: "B", count: 101)
        #expect(timed.sink.names == names)
        #expect(times == times.sorted())
        // Finally each frame has its capture time and is in sync with the audio.
        if lateness <= 200 {
            #expect(times.last == taken + .milliseconds(3300))
        }
        #expect(zip(times.dropFirst(5), times.dropFirst(6)).allSatisfy { $0 < $1 })
    }

    @Test func aStallBridgedByTheLastPictureEndsWithALateFrame() async throws {
        let timed = try await TimedEngine {
            $0.fallback = .lastPicture
            $0.stallTimeout = .milliseconds(200)
        }
        let events = timed.engine.events
        let late = MediaTime.milliseconds(60)
        var captured = timed.start
        func deliver() throws -> FrameDisposition {
            timed.source.deliver(try timed.live(captured, from: timed.source))
        }
        timed.backend.time.advance(to: captured + late)
        #expect(try deliver() == .accepted)
        // No frames for a while by the engine's clock. The frames that bridge the gap follow the
        // machine's clock.
        timed.backend.time.advance(to: captured + .milliseconds(900))
        await events.first(named: "sourceStalled")
        await timed.sink.rendered(4)
        for number in 1...50 {
            captured = timed.start + .milliseconds(900 + Double(number) * 33)
            timed.backend.time.advance(to: captured + late)
            #expect(try deliver() == .accepted, "frame \(number)")
        }
        await events.first(named: "sourceResumed")
        let statistics = await timed.engine.statistics.local[.main]
        await timed.engine.shutDown()
        #expect(statistics?.accepted == 51)
        #expect(timed.sink.times == timed.sink.times.sorted())
    }

    /// Latency, jitter, frame rate, gaps and losses together.
    @Test(arguments: 0..<40)
    func latencyAndJitterDoNotRefuseALiveFrame(_ seed: Int) async throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let lateness = Double.random(in: 0...200, using: &generator)
        let jitter = seed < 10 ? 0 : Double.random(in: 0...150, using: &generator)
        let interval = seed < 20 ? 33 : Double.random(in: 5...500, using: &generator)
        let gaps = seed < 30 ? 0 : Double.random(in: 0...0.05, using: &generator)
        let timed = try await TimedEngine()
        try play(timed, from: timed.start, 3)
        let begin = timed.backend.clockTime()
        let next = SourceScript("B")
        var captured = begin
        var expected: [MediaTime] = []
        for number in 0..<200 {
            let isGap = Double.random(in: 0..<1, using: &generator) < gaps
            captured = captured + .milliseconds(interval + (isGap ? 1500 : 0))
            let delay = lateness + Double.random(in: 0...1, using: &generator) * jitter
            timed.backend.time.advance(to: captured + .milliseconds(delay))
            let frame = try timed.live(captured, from: next)
            if number == 0 {
                next.whenStarted { $0.consume(frame) }
                try await timed.engine.setVideoSource(ScriptedSource(next))
            } else {
                let result = next.deliver(frame)
                #expect(result == .accepted, "seed \(seed), frame \(number)")
            }
            expected.append(captured)
        }
        let times = Array(await timed.rendered(203).dropFirst(3))
        await timed.engine.shutDown()
        #expect(times == times.sorted(), "seed \(seed)")
        // After two seconds the source change no longer has any effect.
        for (time, capture) in zip(times, expected)
        where capture - begin > .milliseconds(lateness * 10 + 500) {
            #expect(time == capture, "seed \(seed), \(lateness) ms late, jitter \(jitter)")
        }
    }
}
