import Foundation
import MediaCore
import TestSupport
import Testing

@Suite(.hangGuard)
struct JitterBufferTests {
    typealias Timing = JitterBuffer.Timing

    /// The guarantees for every sender whose audio arrives in order.
    private func check(_ scenario: JitterScenario, _ outcome: JitterScenario.Outcome) {
        let counts = outcome.counts
        #expect(outcome.isBalanced, "\(scenario)")
        #expect(outcome.isInOrder, "\(scenario)")
        #expect(counts.received == outcome.sent, "\(scenario)")
        #expect(counts.waiting == 0, "\(scenario)")
        // Only unneeded silence is dropped.
        #expect(counts.dropped == counts.droppedSilence, "\(scenario)")
        #expect(counts.played == outcome.sent - counts.droppedSilence, "\(scenario)")
    }

    static let lateness = [0, 30, 50, 60, 200]

    @Test(arguments: [Timing.clock, .demand], lateness)
    func evenlyLateAudioIsPlayedCompletely(timing: Timing, lateness: Int) {
        var scenario = JitterScenario()
        (scenario.timing, scenario.lateness, scenario.seconds) = (timing, lateness, 12)
        let outcome = scenario.run()
        check(scenario, outcome)
        #expect(outcome.missingInTheSecondHalf == 0)
        // The delay is minimal: with clock timing the common delay, or 10 ms behind arrival.
        let most = timing == .clock ? max(40, lateness + 10) + 1 : lateness + 41
        #expect(outcome.delays.last ?? .infinity <= Double(most))
    }

    @Test(arguments: [Timing.clock, .demand], [1, 5, 60, 250, 600, 2000])
    func packetsOfAnySizeArePlayedCompletely(timing: Timing, pieces: Int) {
        var scenario = JitterScenario()
        (scenario.timing, scenario.pieces, scenario.seconds) = (timing, pieces, 12)
        let outcome = scenario.run()
        check(scenario, outcome)
        #expect(outcome.missingInTheSecondHalf == 0)
    }

    @Test(
        arguments: [Timing.clock, .demand],
        [JitterScenario.Jitter.even, .spikes, .bursts].flatMap { jitter in
            [20, 60, 200].map { (jitter, $0) }
        })
    func jitterIsSmoothedOnceItIsMeasured(
        timing: Timing, jitter: (kind: JitterScenario.Jitter, most: Int)
    ) {
        var scenario = JitterScenario()
        (scenario.timing, scenario.jitter) = (timing, jitter.kind)
        (scenario.mostJitter, scenario.seconds) = (jitter.most, 20)
        let outcome = scenario.run()
        check(scenario, outcome)
        #expect(outcome.missingInTheSecondHalf == 0)
        #expect(outcome.delays.last ?? .infinity <= Double(max(50, jitter.most + 25)))
    }

    @Test(arguments: [Timing.clock, .demand], [-300, 300])
    func driftingClockIsFollowedWithoutLoss(timing: Timing, drift: Int) {
        var scenario = JitterScenario()
        (scenario.timing, scenario.drift, scenario.seconds) = (timing, drift, 60)
        let outcome = scenario.run()
        check(scenario, outcome)
        #expect(outcome.missingInTheSecondHalf == 0)
        #expect(outcome.counts.lengthenedSilence == 0)
        #expect(outcome.counts.droppedSilence == 0)
        // With demand timing there is no other clock: the wait stays constant.
        if timing == .demand { #expect((30...60).contains(outcome.delays.last ?? 0)) }
    }

    @Test(arguments: [Timing.clock, .demand], [JitterScenario.Signal.steady, .pauses])
    func delayFallsAfterTheJitterEnds(timing: Timing, signal: JitterScenario.Signal) {
        var scenario = JitterScenario()
        (scenario.timing, scenario.signal, scenario.seconds) = (timing, signal, 40)
        (scenario.jitter, scenario.mostJitter, scenario.jitterEnds) = (.even, 200, 10)
        let outcome = scenario.run()
        check(scenario, outcome)
        let (most, last) = (outcome.delays.max() ?? 0, outcome.delays.last ?? .infinity)
        // Silence shortens the delay at once; steady audio shortens it by 1 ms per second.
        #expect(signal == .pauses ? last <= 60 : last < most - 10, "\(most) to \(last) ms")
    }

    @Test(arguments: [Timing.clock, .demand], [1, 10, 30])
    func lostAudioBecomesSilence(timing: Timing, loss: Int) {
        var scenario = JitterScenario()
        (scenario.timing, scenario.loss, scenario.seconds) = (timing, loss, 12)
        let outcome = scenario.run()
        check(scenario, outcome)
        // At the end, missing samples are counted once; pieces lost there are not counted.
        let end = JitterScenario.rate / 10
        #expect(abs(outcome.counts.missing - outcome.lost) <= end)
    }

    @Test(arguments: [Timing.clock, .demand], [1, 10, 30])
    func reorderingWithinTheDelayIsCorrected(timing: Timing, reorder: Int) {
        var scenario = JitterScenario()
        (scenario.timing, scenario.reorder, scenario.seconds) = (timing, reorder, 12)
        let outcome = scenario.run()
        check(scenario, outcome)
        #expect(outcome.missingInTheSecondHalf == 0)
    }

    @Test(arguments: [Timing.clock, .demand])
    func pausesInTheTransmissionLoseNoAudio(timing: Timing) {
        var scenario = JitterScenario()
        (scenario.timing, scenario.signal, scenario.seconds) = (timing, .gaps, 12)
        let outcome = scenario.run()
        check(scenario, outcome)
        #expect(outcome.heard == outcome.loud)
    }

    @Test func randomScenariosKeepBalanceAndOrder() {
        let seed =
            ProcessInfo.processInfo.environment["JITTER_SEED"].flatMap { UInt64($0) }
            ?? UInt64.random(in: 0...UInt64.max)
        print("jitter scenarios: JITTER_SEED=\(seed)")
        var random = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            var scenario = JitterScenario()
            scenario.seed = random.next()
            scenario.timing = Bool.random(using: &random) ? .clock : .demand
            scenario.seconds = 8
            // Two or three impairments at a time.
            for _ in 0..<Int.random(in: 2...3, using: &random) {
                switch Int.random(in: 0..<8, using: &random) {
                case 0: scenario.lateness = Int.random(in: 0...200, using: &random)
                case 1:
                    scenario.jitter = .allCases.randomElement(using: &random) ?? .even
                    scenario.mostJitter = Int.random(in: 0...300, using: &random)
                case 2:
                    let sizes = [1, 3, 40, 200] + (scenario.reorder > 0 ? [] : [700, 2000])
                    scenario.pieces = sizes.randomElement(using: &random) ?? 10
                case 3: scenario.drift = Int.random(in: -300...300, using: &random)
                case 4: scenario.loss = Int.random(in: 0...30, using: &random)
                case 5 where scenario.pieces <= 200:
                    scenario.reorder = Int.random(in: 0...30, using: &random)
                case 6: scenario.signal = .allCases.randomElement(using: &random) ?? .pauses
                default: scenario.block = [10, 20, 50].randomElement(using: &random) ?? 10
                }
            }
            let outcome = scenario.run()
            if scenario.reorder == 0 {
                check(scenario, outcome)
            } else {
                #expect(outcome.isBalanced && outcome.isInOrder, "\(scenario)")
                #expect(outcome.counts.droppedOverflow == 0, "\(scenario)")
            }
        }
    }

    // MARK: One case each

    private func samples(_ count: Int, _ value: Float = 0.5) -> [Float] {
        [Float](repeating: value, count: count)
    }

    @Test func delayAboveTheMaximumIsDroppedToTheTarget() {
        var buffer = JitterBuffer(sampleRate: 8000, channels: 1, timing: .demand)
        for index in 0..<200 { buffer.add(samples(80).span, at: index * 80, now: 0) }
        // At most one second is buffered, and at least 40 ms of it is kept.
        #expect(buffer.counts.droppedOverflow > 0)
        #expect(buffer.counts.waiting <= 8000)
        #expect(buffer.counts.waiting >= 320)
        #expect(buffer.counts.waiting + buffer.counts.dropped == 16000)
    }

    @Test func duplicatePacketsArePlayedOnce() {
        var buffer = JitterBuffer(sampleRate: 8000, channels: 1, timing: .clock)
        for place in [0, 80, 80, 160, 0] { buffer.add(samples(80).span, at: place, now: -320) }
        var mix = [Float](repeating: 0, count: 560)
        _ = buffer.take(560, at: -320, into: &mix)
        #expect(mix.count { $0 == 0.5 } == 240)
        #expect(mix.prefix(320).allSatisfy { $0 == 0 })
        #expect(buffer.counts.droppedDuplicate == 160)
        #expect(buffer.counts.played == 240)
    }

    @Test func clockResetLosesNoAudio() {
        for jump in [-80_000, 80_000] {
            var buffer = JitterBuffer(sampleRate: 8000, channels: 1, timing: .clock)
            var heard = 0
            for index in 0..<300 {
                let place = index * 80 + (index < 150 ? 0 : jump)
                buffer.add(samples(80).span, at: place, now: index * 80 - 320)
                var mix = [Float](repeating: 0, count: 80)
                _ = buffer.take(80, at: index * 80 - 320, into: &mix)
                heard += mix.count { $0 != 0 }
            }
            #expect(buffer.counts.dropped == 0)
            #expect(heard + buffer.counts.waiting >= 300 * 80 - 400)
        }
    }

    @Test func abandonedAudioIsCountedAsDropped() {
        var buffer = JitterBuffer(sampleRate: 8000, channels: 2, timing: .demand)
        buffer.add(samples(800).span, at: 0, now: 0)
        buffer.abandon()
        #expect(buffer.isEmpty)
        #expect(buffer.counts.droppedAbandoned == 400)
        #expect(buffer.counts.waiting == 0)
    }

    // MARK: Sound

    /// The level of everything except the sine, in dB relative to it, during faster playback.
    ///
    /// - Parameters:
    ///   - late: The delay of the first piece in blocks, relative to all others.
    ///   - speed: The playback speed at the measurement.
    private func distortion(of frequency: Double, late: Int, speed: Double) -> Double {
        let rate = 48000
        var configuration = JitterBufferConfiguration()
        configuration.maximumDelay = .seconds(3)
        var buffer = JitterBuffer(
            sampleRate: rate, channels: 1, timing: .clock, configuration: configuration)
        let step = 2 * Double.pi * frequency / Double(rate)
        var heard: [Double] = []
        // The first piece is late, and all others are on time.
        for block in 0..<1250 {
            let now = block * 480
            for index in block == late ? 0...late : block...block where block >= late {
                let piece = (0..<480).map { Float(sin(step * Double(index * 480 + $0))) }
                buffer.add(piece.span, at: index * 480, now: now)
            }
            var mix = [Float](repeating: 0, count: 480)
            _ = buffer.take(480, at: now, into: &mix)
            if block >= 1200 { heard += mix.map { Double($0) } }
        }
        #expect(buffer.counts.dropped == 0)
        let (residue, power) = remainder(heard, step * speed)
        return 10 * log10(residue / power)
    }

    /// The residue of the samples after subtracting the best-fitting sine.
    private func remainder(_ samples: [Double], _ step: Double) -> (residue: Double, power: Double)
    {
        var (ss, cc, sc, xs, xc, power) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for (index, value) in samples.enumerated() {
            let (s, c) = (sin(step * Double(index)), cos(step * Double(index)))
            ss += s * s
            cc += c * c
            sc += s * c
            xs += value * s
            xc += value * c
            power += value * value
        }
        let determinant = ss * cc - sc * sc
        let (a, b) = ((xs * cc - xc * sc) / determinant, (xc * ss - xs * sc) / determinant)
        return (max(1e-30, power - a * xs - b * xc), power)
    }

    @Test(arguments: [(440.0, -90.0), (1000, -86), (5000, -86), (10000, -82), (15000, -80)])
    func fasterPlaybackDoesNotDistort(frequency: Double, most: Double) {
        for (late, speed) in [(1, 1.001), (50, 1.01)] {
            let level = distortion(of: frequency, late: late, speed: speed)
            print("\(frequency) Hz, \(speed) times as fast: \(level) dB")
            #expect(level < most)
        }
    }

    // MARK: Expected jitter and slower streams

    @Test(arguments: [Timing.clock, .demand], [UInt64](1...20))
    func expectedJitterLosesNoAudio(timing: Timing, seed: UInt64) {
        var scenario = JitterScenario()
        (scenario.seed, scenario.timing, scenario.seconds) = (seed, timing, 8)
        (scenario.jitter, scenario.mostJitter, scenario.lateness) = (.even, 120, 20)
        scenario.expected = 40
        let outcome = scenario.run()
        check(scenario, outcome)
        // The buffer runs out only at the end.
        #expect(outcome.counts.underruns <= 1, "\(scenario)")
    }

    @Test(arguments: [0, 60, 150])
    func audioIsDelayedToMatchASlowerStream(lag: Int) {
        for signal in JitterScenario.Signal.allCases {
            var scenario = JitterScenario()
            (scenario.signal, scenario.step, scenario.seconds) = (signal, lag, 40)
            (scenario.jitter, scenario.mostJitter) = (.even, 30)
            let outcome = scenario.run()
            check(scenario, outcome)
            let last = outcome.delays.last ?? .infinity
            #expect(abs(last - Double(40 + lag)) <= 21, "\(scenario)")
        }
    }
}
