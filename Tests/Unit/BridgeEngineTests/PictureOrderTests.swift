import MediaCore
import Testing

@testable import BridgeEngine

/// Detects units whose presentation order differs from their decoding order.
@Suite struct PictureOrderTests {
    private func isReordered(
        shown: [Int], decoded: [Int]? = nil, keys: Set<Int> = [0]
    ) -> [Bool] {
        var order = PictureOrder()
        return shown.indices.map { index in
            var unit = VideoCodec.h264.unit(isKey: keys.contains(index))
            unit.runningTime = MediaTime(value: Int64(shown[index]), timescale: 25)
            unit.decodingTime = decoded.map { MediaTime(value: Int64($0[index]), timescale: 25) }
            order.note(unit)
            return order.isReordered
        }
    }

    @Test func decodingTimesRevealReorderingAtTheFirstUnit() {
        #expect(
            isReordered(shown: [2, 5, 3, 4], decoded: [0, 1, 2, 3]) == [true, true, true, true])
        #expect(isReordered(shown: [0, 1, 2], decoded: [0, 1, 2]) == [false, false, false])
    }

    @Test func decreasingTimestampsRevealReorderingWithoutDecodingTimes() {
        #expect(isReordered(shown: [0, 3, 1, 2]) == [false, false, true, true])
        #expect(isReordered(shown: [0, 1, 2, 3]) == [false, false, false, false])
    }

    @Test func restartedTimestampsAreNotReordering() {
        #expect(isReordered(shown: [100, 101, 0, 1]) == [false, false, false, false])
        #expect(isReordered(shown: [10, 11, 5, 6], keys: [0, 2]) == [false, false, false, false])
    }
}
