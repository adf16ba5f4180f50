import TestSupport
import Testing

@testable import MediaBridge

/// Units that a source delivers again.
@Suite("Repeated units", .hangGuard) struct RepeatedUnitTests {
    /// One group of pictures in decoding order, with B-frames: their times in hundredths of a second.
    private static let group = [0, 12, 4, 8, 24, 16, 20, 36, 28, 32]

    private static func time(_ hundredths: Int) -> MediaTime {
        MediaTime(nanoseconds: Int64(hundredths) * 10_000_000)
    }

    private static func taken(
        _ units: inout RepeatedUnits, from start: Int, size: Int
    ) -> Int {
        group.count { !units.take(time(start + $0), byteCount: size + $0) }
    }

    @Test func dropsASegmentThatComesAgain() {
        var units = RepeatedUnits()
        for start in stride(from: 0, to: 400, by: 40) {
            #expect(Self.taken(&units, from: start, size: 1000 + start) == 10)
        }
        // The segment of the last 1.6 s is repeated, and then the next one arrives.
        for start in stride(from: 240, to: 400, by: 40) {
            #expect(Self.taken(&units, from: start, size: 1000 + start) == 0)
        }
        #expect(Self.taken(&units, from: 400, size: 1400) == 10)
    }

    @Test func keepsOtherMediaWhoseTimesRestart() {
        var units = RepeatedUnits()
        for start in stride(from: 0, to: 400, by: 40) {
            #expect(Self.taken(&units, from: start, size: 1000) == 10)
        }
        for start in stride(from: 0, to: 400, by: 40) {
            #expect(Self.taken(&units, from: start, size: 2000) == 10)
        }
    }
}
