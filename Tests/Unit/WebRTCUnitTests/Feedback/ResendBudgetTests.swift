import TestSupport
import Testing

@testable import MediaBridgeWebRTC

/// The limit for retransmitted packets.
struct ResendBudgetTests {
    private static let second: UInt64 = 1_000_000_000

    @Test func resendsUseAQuarterOfTheBitRateAtMost() {
        let budget = ResendBudget(bitRate: 1_000_000)
        var sent = 0
        // Ten seconds of requests for three times the sent data.
        for place in 0..<3000 {
            let now = Self.second + UInt64(place) * Self.second / 300
            if budget.admits(1250, number: 0, now: now) { sent += 1250 * 8 }
        }
        #expect((2_400_000...2_700_000).contains(sent), "\(sent)")
        #expect(budget.packets * 10_000 == sent)
    }

    @Test func lowerBitRateShrinksTheBudget() {
        let budget = ResendBudget(bitRate: 1_000_000)
        budget.setBitRate(100_000)
        let sent = (0..<1000).count {
            budget.admits(1250, number: 0, now: Self.second + UInt64($0))
        }
        #expect(sent <= 2)
    }

    @Test func packetsBeforeTheKeyframeAreNotResent() {
        let budget = ResendBudget(bitRate: 10_000_000)
        budget.note(65_534, isKey: true)
        budget.note(65_535, isKey: true)
        budget.note(0, isKey: false)
        #expect(!budget.admits(100, number: 65_533, now: 1))
        #expect(budget.admits(100, number: 65_534, now: 1))
        #expect(budget.admits(100, number: 0, now: 1))
        budget.note(1, isKey: true)
        #expect(!budget.admits(100, number: 0, now: 1))
        #expect(budget.admits(100, number: 1, now: 1))
    }

    @Test func stoppedClockAddsNoBudget() {
        let budget = ResendBudget(bitRate: 80_000)
        var sent = 0
        while budget.admits(1000, number: 0, now: 5), sent < 100 { sent += 1 }
        #expect((1...3).contains(sent))
    }
}
