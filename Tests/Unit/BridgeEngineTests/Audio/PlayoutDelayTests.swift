import Foundation
import MediaCore
import TestSupport
import Testing

@testable import BridgeEngine

/// The video and audio of one user, each with its own latency.
@Suite(.hangGuard)
struct PlayoutDelayTests {
    private func milliseconds(_ value: Int) -> MediaTime {
        MediaTime(value: Int64(value), timescale: 1000)
    }

    /// The playout delays of video frames with these ages.
    private func delays(_ ages: [Int], _ delay: PlayoutDelay = PlayoutDelay()) -> [MediaTime] {
        ages.enumerated().map { index, age in
            delay.delay(
                of: .video(.main), captured: milliseconds(index * 40), latency: milliseconds(50),
                isReady: true, now: milliseconds(index * 40 + age))
        }
    }

    @Test func punctualFramesAreNotDelayed() {
        #expect(delays((0..<100).map { 20 + $0 % 20 }).allSatisfy { $0 == .zero })
    }

    @Test func constantLatenessIsDelayedFromTheBeginning() {
        let delays = delays([Int](repeating: 120, count: 50))
        #expect(delays.allSatisfy { $0 >= milliseconds(70) && $0 <= milliseconds(85) })
    }

    @Test func oneLateFrameDelaysNoOther() {
        var ages = [Int](repeating: 30, count: 200)
        ages[100] = 400
        #expect(delays(ages)[101...].allSatisfy { $0 == .zero })
    }

    /// The delay grows and shrinks by a fifth of the elapsed time, so timestamps always increase.
    @Test func orderOfTheFramesIsKept() {
        let ages = (0..<300).map { $0 < 100 ? 30 : $0 < 200 ? 250 : 30 }
        let delays = delays(ages)
        for (a, b) in zip(delays, delays.dropFirst()) {
            #expect(abs((a - b).nanoseconds) <= milliseconds(8).nanoseconds)
        }
        #expect(delays[190] >= milliseconds(200))
        #expect(delays[299] <= milliseconds(220))
    }

    @Test func videoWaitsForTheMixedAudio() {
        let delay = PlayoutDelay()
        delay.mixes(at: milliseconds(150), now: .zero)
        #expect(delays([30], delay) == [milliseconds(100)])
        delay.mixes(at: nil, now: .zero)
        #expect(delays([Int](repeating: 30, count: 100), delay).last == .zero)
    }

    @Test func audioWaitsForTheIncomingVideo() {
        let delay = PlayoutDelay()
        _ = delays([200], delay)
        #expect(delay.mixes(at: nil, now: milliseconds(200)) >= milliseconds(200))
        // No video frame has arrived for a while.
        #expect(delay.mixes(at: nil, now: milliseconds(5000)) == .zero)
    }

    /// Video and audio converge, for any latency of either. Audio without pauses is delayed by 10
    /// ms per second, and is checked after the time this takes.
    @Test func videoAndAudioStayWithinTwentyMilliseconds() throws {
        let seed =
            ProcessInfo.processInfo.environment["STEP_SEED"].flatMap { UInt64($0) }
            ?? UInt64.random(in: 0...UInt64.max)
        print("step scenarios: STEP_SEED=\(seed)")
        var random = SeededGenerator(seed: seed)
        for number in 0..<8 {
            var scenario = StepScenario()
            scenario.seed = random.next()
            if number > 0 {
                scenario.pictures = (
                    .random(in: 0...150, using: &random), .random(in: 0...120, using: &random)
                )
                scenario.sound = (
                    .random(in: 0...150, using: &random), .random(in: 0...120, using: &random)
                )
                scenario.loss = .random(in: 0...20, using: &random)
                scenario.frameRate = [5, 15, 25, 30, 60].randomElement(using: &random) ?? 25
                scenario.isSteady = .random(using: &random)
            }
            try check(scenario)
        }
    }

    private func check(_ scenario: StepScenario) throws {
        var scenario = scenario
        let settled = 15 + (scenario.isSteady ? scenario.apart / 10 : 0)
        scenario.seconds = settled + 20
        let shown = try scenario.run().filter { $0.captured > Double(settled * 1000) }
        #expect(!shown.isEmpty)
        let apart = shown.compactMap { shown in shown.sound.map { abs($0 - shown.picture) } }
        #expect(apart.count * 10 >= shown.count * 9, "\(scenario)")
        let worst = apart.max() ?? .infinity
        // Of few pictures, the latest varies by more than sound without pauses can follow.
        let limit = scenario.isSteady && scenario.frameRate < 15 ? 30.0 : 20.0
        #expect(worst <= limit, "\(scenario): \(worst) ms")
        let late = shown.count { !$0.isInTime }
        #expect(late * 10 <= shown.count, "\(scenario): \(late) of \(shown.count) late")
        for (a, b) in zip(shown, shown.dropFirst()) {
            #expect(a.captured + a.picture < b.captured + b.picture, "\(scenario)")
        }
    }
}
