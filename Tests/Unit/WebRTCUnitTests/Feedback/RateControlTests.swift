import TestSupport
import Testing

@testable import MediaBridgeWebRTC

/// How the bit rate follows a peer's reports.
struct RateControlTests {
    private static let source: UInt32 = 7

    /// - Parameter count: The number of packets that the report covers.
    private static func packet(
        loss: Double? = nil, of count: UInt32 = 100, estimate: Int? = nil
    ) -> ControlPacket {
        var packet = ControlPacket([])
        packet.estimate = estimate
        if let loss {
            packet.reports = [
                .init(
                    source: source, lostFraction: loss, lost: 1, highest: count, jitter: 0,
                    lastReport: 0, sinceLastReport: 0)
            ]
        }
        return packet
    }

    @Test func onlyTheMaximumAppliesBeforeAPeerReports() {
        let rate = RateUnderTest(most: nil)
        #expect(!rate.step(sent: 1_000_000))
        #expect(rate.target == nil)
        let limited = RateUnderTest(most: 800_000)
        #expect(!limited.step(sent: 1_000_000))
        #expect(limited.target == 800_000)
    }

    @Test func rateFollowsAnEstimateDownAtOnceAndUpInSteps() throws {
        let rate = RateUnderTest(most: 4_000_000)
        rate.note(Self.packet(estimate: 1_000_000), of: Self.source)
        #expect(rate.fall(sent: 4_000_000, at: 1))
        let low = try #require(rate.target)
        #expect((700_000..<1_000_000).contains(low))
        rate.note(Self.packet(estimate: 10_000_000), of: Self.source)
        var before = low
        for step in 2..<100 {
            #expect(!rate.fall(sent: before, at: Double(step)))
            #expect(!rate.step(sent: before))
            let target = try #require(rate.target)
            #expect(target >= before)
            #expect(Double(target) <= 1.09 * Double(before))
            before = target
        }
        #expect(before == 4_000_000)
    }

    @Test func rateFallsWithALossAndRisesAfterIt() throws {
        let rate = RateUnderTest(most: 2_000_000)
        for _ in 0..<4 {
            rate.note(Self.packet(loss: 0.3), of: Self.source)
            _ = rate.step(sent: 2_000_000)
        }
        let low = try #require(rate.target)
        #expect(low < 1_300_000)
        for _ in 0..<40 {
            rate.note(Self.packet(loss: 0), of: Self.source)
            #expect(!rate.step(sent: low))
        }
        #expect(rate.target == 2_000_000)
    }

    @Test func lossBetweenTwoReportsCountsImmediately() throws {
        let rate = RateUnderTest(most: 2_000_000)
        rate.note(Self.packet(loss: 0.5), of: Self.source)
        #expect(!rate.fall(sent: 2_000_000, at: 10))
        rate.note(Self.packet(loss: 0.5), of: Self.source)
        #expect(rate.fall(sent: 2_000_000, at: 10.2))
        let low = try #require(rate.target)
        #expect(low < 1_000_000)
        // Packets sent before the reduction are still being lost.
        rate.note(Self.packet(loss: 0.5), of: Self.source)
        #expect(!rate.fall(sent: 2_000_000, at: 10.4))
        #expect(rate.target == low)
    }

    /// A browser reports each gap at once. Reports in between cover few packets, none of which is
    /// missing.
    @Test func lossIsWeightedByPacketsNotReports() throws {
        let rate = RateUnderTest(most: 3_000_000)
        rate.note(Self.packet(loss: 0.8), of: Self.source)
        #expect(!rate.fall(sent: 3_000_000, at: 10))
        for step in 1...14 {
            let isHole = step.isMultiple(of: 2)
            rate.note(Self.packet(loss: isHole ? 0.8 : 0, of: isHole ? 40 : 1), of: Self.source)
            let hasFallen = rate.fall(sent: 3_000_000, at: 10 + Double(step) / 100)
            #expect(hasFallen == (step > 12))
            if hasFallen { break }
        }
        let low = try #require(rate.target)
        // A fifth of the packets arrives.
        #expect((250_000...350_000).contains(low), "\(low)")
    }

    /// Losses during a change of the network do not indicate its new capacity.
    @Test func lossFollowedByAPauseIsOver() {
        let rate = RateUnderTest(most: 3_000_000)
        rate.note(Self.packet(loss: 0.8), of: Self.source)
        #expect(!rate.fall(sent: 3_000_000, at: 10))
        for step in 1...3 {
            rate.note(Self.packet(loss: 0, of: 10), of: Self.source)
            #expect(!rate.fall(sent: 3_000_000, at: 10 + Double(step) / 10))
        }
        rate.note(Self.packet(loss: 0.8), of: Self.source)
        #expect(!rate.fall(sent: 3_000_000, at: 10.4))
        rate.note(Self.packet(loss: 0.8), of: Self.source)
        #expect(rate.fall(sent: 3_000_000, at: 10.6))
    }

    @Test func smallLossAndThatOfOtherStreamsHaveNoEffect() {
        let rate = RateUnderTest(most: 2_000_000)
        for _ in 0..<20 {
            rate.note(Self.packet(loss: 0.05), of: Self.source)
            rate.note(Self.packet(loss: 0.9), of: 8)
            #expect(!rate.step(sent: 2_000_000))
        }
        #expect(rate.target == 2_000_000)
    }

    @Test(arguments: 1...20) func rateStaysWithinItsLimits(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let most =
            [nil, 30_000, 50_000, 60_000, 1_000_000, 80_000_000].randomElement(using: &random)
            ?? nil
        let rate = RateUnderTest(most: most)
        for step in 0..<500 {
            let estimates = [nil, 0, 1, 10_000, 400_000, 5_000_000, Int.max]
            let estimate = estimates.randomElement(using: &random) ?? nil
            let loss = Bool.random(using: &random) ? Double.random(in: 0...1, using: &random) : nil
            rate.note(Self.packet(loss: loss, estimate: estimate), of: Self.source)
            let sent = [0, 1, 20_000, 3_000_000, 1 << 40].randomElement(using: &random) ?? 0
            if Bool.random(using: &random) {
                _ = rate.fall(sent: sent, at: Double(step) / 10)
            } else {
                _ = rate.step(sent: sent)
            }
            guard let target = rate.target else { continue }
            #expect(target >= min(50_000, most ?? 50_000))
            #expect(target <= most ?? 50_000_000)
            #expect(rate.limit.bitRate == target)
        }
    }
}

/// A rate control that is a class, so that expectations can mutate it.
private final class RateUnderTest {
    private var rate: RateControl
    private var highest: UInt32?

    init(most: Int?) { rate = RateControl(most: most) }

    var target: Int? { rate.target }
    var limit: VideoLimit { rate.limit }
    /// Records a packet whose reports contain the number of packets since the previous report.
    func note(_ packet: ControlPacket, of source: UInt32) {
        var packet = packet
        for index in packet.reports.indices where packet.reports[index].source == source {
            // The sequence number wraps around in every test.
            highest = (highest ?? .max - 50) &+ packet.reports[index].highest
            packet.reports[index].highest = highest ?? 0
        }
        rate.note(packet, of: source)
    }
    func fall(sent: Int, at now: Double) -> Bool { rate.fall(sent: sent, at: now) }
    func step(sent: Int) -> Bool { rate.step(sent: sent) }
}
