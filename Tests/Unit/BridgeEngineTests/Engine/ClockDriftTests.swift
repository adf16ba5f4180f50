import BridgeEngine
import MediaCore
import TestSupport
import Testing

/// Sources whose clocks run slow, run fast or jump back.
@Suite(.hangGuard)
struct ClockDriftTests {
    /// The timing of a generated source.
    private struct Course {
        var rate = 1.0
        var interval = 40.0
        var lateness = 0.0
        var jitter = 0.0
        var zero = MediaTime.zero
        var seconds = 60.0
    }

    /// Runs a source with this timing.
    ///
    /// - Returns: The capture and presentation time of each accepted frame, and the number of
    ///   refused frames.
    private func run(
        _ course: Course, isLive: Bool, seed: Int
    ) async throws -> (frames: [(captured: MediaTime, shown: MediaTime)], refused: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        let timed = try await TimedEngine()
        var captures: [MediaTime] = []
        var refused = 0
        for number in 0..<Int(course.seconds * 1000 / course.interval) {
            let elapsed = Double(number) * course.interval
            let captured = timed.start + .milliseconds(elapsed)
            let jitter = Double.random(in: 0...1, using: &generator) * course.jitter
            let delay = course.lateness + jitter
            timed.backend.time.advance(to: captured + .milliseconds(delay))
            let said = MediaTime.milliseconds(elapsed * course.rate)
            let frame =
                isLive
                ? try timed.live(timed.start + said, from: timed.source)
                : try timed.own(course.zero + said, from: timed.source)
            if timed.source.deliver(frame).isAccepted {
                captures.append(captured)
            } else {
                refused += 1
            }
        }
        let shown = await timed.rendered(captures.count)
        await timed.engine.shutDown()
        #expect(shown == shown.sorted(), "seed \(seed)")
        return (Array(zip(captures, shown)).map { (captured: $0, shown: $1) }, refused)
    }

    /// The maximum distance of video from audio in ms, once the clock is known.
    private func farthest(
        _ frames: [(captured: MediaTime, shown: MediaTime)], after seconds: Double = 3
    ) -> Double {
        let first = frames.first?.captured ?? .zero
        return frames.filter { $0.captured - first > MediaTime(seconds: seconds) }
            .map { abs(($0.shown - $0.captured).milliseconds) }.max() ?? 0
    }

    @Test(arguments: [0.9, 0.95, 0.99, 0.999, 1, 1.001, 1.01, 1.05, 1.1])
    func sourceClockStaysAlignedWithTheEngineClock(_ rate: Double) async throws {
        let (frames, refused) = try await run(
            Course(rate: rate, zero: MediaTime(seconds: 3600)), isLive: false, seed: 1)
        #expect(refused == 0)
        let far = farthest(frames)
        #expect(far < max(60, abs(rate - 1) * 3000), "\(far) ms")
    }

    @Test(arguments: 0..<30)
    func sourceClockIsFollowedThroughJitter(_ seed: Int) async throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        var course = Course()
        course.rate = Double.random(in: 0.98...1.02, using: &generator)
        course.jitter = seed < 10 ? 0 : Double.random(in: 0...200, using: &generator)
        course.lateness = seed < 20 ? 0 : Double.random(in: 0...200, using: &generator)
        course.interval = seed % 2 == 0 ? 40 : Double.random(in: 8...100, using: &generator)
        course.zero = MediaTime(seconds: Double.random(in: 0...100_000, using: &generator))
        let (frames, refused) = try await run(course, isLive: false, seed: seed)
        #expect(refused == 0, "seed \(seed): \(course)")
        // The latency of the most punctual frame cannot be known; everything else is corrected.
        let far = farthest(frames, after: 5) - course.lateness
        #expect(far < 150, "seed \(seed): \(far) ms, \(course)")
    }

    @Test(arguments: [0.5, 0.8, 0.9, 0.97, 0.99, 1.01, 1.05, 1.5])
    func driftingLiveClockIsNotRefused(_ rate: Double) async throws {
        let (frames, refused) = try await run(Course(rate: rate), isLive: true, seed: 1)
        #expect(refused == 0)
        let far = farthest(frames)
        #expect(far < 1500, "\(far) ms")
        if (0.97...1.05).contains(rate) { #expect(far < 350, "\(far) ms") }
    }

    @Test(arguments: [1500, 2500, 60_000])
    func liveClockSetBackLosesASecondAtMost(_ step: Double) async throws {
        let timed = try await TimedEngine()
        timed.backend.time.advance(to: timed.start + MediaTime(seconds: 100))
        let start = timed.backend.clockTime()
        var (refused, inARow) = (0, 0)
        for number in 0..<200 {
            let now = start + .milliseconds(Double(number) * 40)
            timed.backend.time.advance(to: now)
            let said = number < 50 ? now : now - .milliseconds(step)
            let result = timed.source.deliver(try timed.live(said, from: timed.source))
            if !result.isAccepted { refused += 1 }
            inARow = result.isAccepted ? inARow + 1 : 0
        }
        #expect(refused > 0)
        #expect(refused <= 26)
        #expect(inARow >= 120)
        let times = await timed.rendered(200 - refused)
        await timed.engine.shutDown()
        #expect(times == times.sorted())
    }

    /// The cost is independent of the rate: at one frame per ten seconds it is one frame, not
    /// thirty.
    @Test(arguments: [0.1, 1, 10, 25, 60, 1000])
    func backwardClockLosesHalfASecondOfFrames(_ rate: Double) async throws {
        let timed = try await TimedEngine()
        let interval = 1000 / rate
        var refused = 0
        for number in 0..<200 {
            timed.backend.time.advance(to: timed.start + .milliseconds(Double(number) * interval))
            // Starts 3.6 million frames ahead (an hour at 1000 frames/s), then restarts.
            let said = Double(number < 100 ? number + 3_600_000 : number) * interval
            let frame = try timed.own(.milliseconds(said), from: timed.source)
            if !timed.source.deliver(frame).isAccepted { refused += 1 }
        }
        #expect(refused > 0)
        #expect(Double(refused) <= min(30, rate / 2 + 1), "\(refused) frames")
        let times = await timed.rendered(200 - refused)
        await timed.engine.shutDown()
        #expect(times == times.sorted())
    }

    /// Frames that were held back arrive at once. Each keeps its own time, and none is later than
    /// now.
    @Test(arguments: 0..<20)
    func aBurstAfterAGapKeepsItsTimes(_ seed: Int) async throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let held = Double.random(in: 100...1900, using: &generator)
        let timed = try await TimedEngine()
        var accepted = 0
        for number in 0..<200 {
            let captured = timed.start + .milliseconds(Double(number) * 20)
            let isHeld = number > 50 && Double(number - 50) * 20 <= held
            let now = isHeld ? timed.start + .milliseconds(1000 + held) : captured
            timed.backend.time.advance(to: now + .milliseconds(10))
            let result = timed.source.deliver(try timed.live(captured, from: timed.source))
            #expect(result == .accepted, "seed \(seed), frame \(number)")
            accepted += 1
        }
        let times = await timed.rendered(accepted)
        await timed.engine.shutDown()
        let captures = (0..<200).map { timed.start + .milliseconds(Double($0) * 20) }
        #expect(times == captures, "seed \(seed)")
    }
}
