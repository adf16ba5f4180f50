import Testing

@testable import struct MediaBridgeWebRTC.ControlPacket
@testable import struct MediaBridgeWebRTC.LossWindow

struct LossWindowTests {
    private func report(_ highest: UInt32, lost: Int) -> ControlPacket.Report {
        ControlPacket.Report(
            source: 1, lostFraction: 0, lost: lost, highest: highest, jitter: 0, lastReport: 0,
            sinceLastReport: 0)
    }

    @Test func lossShareIsThatOfThePackets() {
        var window = LossWindow()
        #expect(window.share(at: 0) == 0)
        for second in 0...5 {
            window.note(
                report(UInt32(1000 + second * 50), lost: second * 5), at: Double(second))
        }
        #expect(abs(window.share(at: 5) - 0.1) < 0.001)
    }

    @Test func oldReportsAreForgotten() {
        var window = LossWindow()
        window.note(report(1000, lost: 0), at: 0)
        window.note(report(1050, lost: 25), at: 1)
        for second in 2...15 {
            window.note(report(UInt32(1000 + second * 50), lost: 25), at: Double(second))
        }
        #expect(window.share(at: 15) == 0)
        #expect(window.share(at: 40) == 0)
    }

    struct Odd: Sendable {
        let numbers: [UInt32]
        let lost: [Int]
        let share: Double
    }

    @Test(arguments: [
        // Sequence numbers that wrap around, reordered reports, and duplicate packets.
        Odd(numbers: [UInt32.max - 49, 50], lost: [0, 10], share: 0.1),
        Odd(numbers: [100, 200, 150], lost: [0, 10, 2], share: 0.1),
        Odd(numbers: [100, 200], lost: [10, 5], share: 0),
        Odd(numbers: [100, 200], lost: [0, 500], share: 1),
        Odd(numbers: [100], lost: [0], share: 0),
        Odd(numbers: [100, 100], lost: [0, 7], share: 0),
    ])
    func inconsistentReportsAreHandled(odd: Odd) {
        var window = LossWindow()
        for (second, one) in zip(odd.numbers, odd.lost).enumerated() {
            window.note(report(one.0, lost: one.1), at: Double(second))
        }
        #expect(abs(window.share(at: 3) - odd.share) < 0.001)
    }
}
