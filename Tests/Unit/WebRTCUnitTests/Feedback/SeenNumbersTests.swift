import TestSupport
import Testing

@testable import MediaBridgeWebRTC

struct SeenNumbersTests {
    /// Sequence numbers that wrap around, repeat and are reordered: each is new once.
    @Test(arguments: 1...3) func numberIsNewOnlyOnce(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let seen = SeenNumbers()
        var came: Set<Int> = []
        var wrong: [Int] = []
        var next = Int.random(in: 0..<65536, using: &random)
        for _ in 0..<20_000 {
            let number: Int
            switch Int.random(in: 0..<10, using: &random) {
            case 0: number = max(0, next - Int.random(in: 1...1000, using: &random))
            case 1: number = max(0, next - 1)
            default:
                next += Int.random(in: 1...3, using: &random)
                number = next
            }
            let isNew = seen.isNew(UInt16(truncatingIfNeeded: number))
            // Before the first number, no number is known to be missing.
            guard came.count > 1000 else {
                came.insert(number)
                continue
            }
            if isNew != came.insert(number).inserted { wrong.append(number) }
        }
        #expect(wrong.isEmpty)
    }

    @Test func numberOlderThanTheWindowCountsAsSeen() {
        let seen = SeenNumbers()
        #expect(seen.isNew(10_000))
        #expect(!seen.isNew(10_000 - 4096))
        #expect(seen.isNew(10_000 + 5000))
        #expect(!seen.isNew(10_000))
        #expect(seen.isNew(10_000 + 4999))
    }
}
