import MediaCore
import Testing

@Suite struct MediaTimeTests {
    @Test(
        arguments: [
            (1, 1, 1_000_000_000), (5, 1, 5_000_000_000), (-5, 1, -5_000_000_000),
            (3, 2, 1_500_000_000), (-1, 2, -500_000_000), (-1, 3, -333_333_333),
            (1, 3, 333_333_333), (2, 3, 666_666_666), (1, 30, 33_333_333),
            (90_000, 90_000, 1_000_000_000), (1001, 30_000, 33_366_666), (0, 7, 0), (0, 1, 0),
            (1, -2, -500_000_000), (-1, -2, 500_000_000), (7, .max, 3),
            (9_223_372_036, 1, 9_223_372_036_000_000_000),
        ] as [(Int64, Int32, Int64)])
    func aValueInAScaleIsTruncatedToTheNanosecond(value: Int64, scale: Int32, expected: Int64) {
        #expect(MediaTime(value: value, timescale: scale).nanoseconds == expected)
    }

    @Test(arguments: [1, 2, 3, 4, 5, 7] as [Int32])
    func aValueThatDoesNotFitIsClamped(scale: Int32) {
        #expect(MediaTime(value: .max, timescale: scale).nanoseconds == .max)
        #expect(MediaTime(value: .min, timescale: scale).nanoseconds == .min)
        #expect(MediaTime(value: .max, timescale: -scale).nanoseconds == .min)
        #expect(MediaTime(value: .min, timescale: -scale).nanoseconds == .max)
    }

    @Test func aValueThatJustFitsIsExact() {
        #expect(MediaTime(value: .max, timescale: 1_000_000_000).nanoseconds == .max)
        #expect(MediaTime(value: .min, timescale: 1_000_000_000).nanoseconds == .min)
        #expect(MediaTime(value: .max, timescale: .max).nanoseconds == 4_294_967_298_000_000_000)
        // More than two thirds of the range, with a timescale of three.
        let seconds: Int64 = 9_000_000_000
        #expect(MediaTime(value: seconds * 3, timescale: 3).nanoseconds == seconds * 1_000_000_000)
    }

    @Test func secondsAreRoundedAndClamped() {
        #expect(MediaTime(seconds: 1.5).nanoseconds == 1_500_000_000)
        #expect(MediaTime(seconds: -0.25).nanoseconds == -250_000_000)
        #expect(MediaTime(seconds: 1.6e-9).nanoseconds == 2)
        #expect(MediaTime(seconds: 1e30).nanoseconds == .max)
        #expect(MediaTime(seconds: -1e30).nanoseconds == .min)
        #expect(MediaTime(seconds: .infinity).nanoseconds == .max)
        #expect(MediaTime(seconds: -.infinity).nanoseconds == .min)
        #expect(MediaTime(seconds: .nan).nanoseconds == 0)
        #expect(MediaTime(nanoseconds: 2_500_000_000).seconds == 2.5)
    }

    @Test func durationSurvivesARoundTrip() {
        #expect(MediaTime(.milliseconds(40)).nanoseconds == 40_000_000)
        #expect(MediaTime(.milliseconds(-40)).duration == .milliseconds(-40))
        #expect(MediaTime(.nanoseconds(1)).nanoseconds == 1)
    }

    @Test func aDurationThatDoesNotFitIsClamped() {
        #expect(MediaTime(.seconds(Int64.max)).nanoseconds == .max)
        #expect(MediaTime(.seconds(Int64.min)).nanoseconds == .min)
        // The whole seconds fit, but not the fraction.
        let edge = Duration(
            secondsComponent: 9_223_372_036, attosecondsComponent: 900_000_000_000_000_000)
        #expect(MediaTime(edge).nanoseconds == .max)
        #expect(MediaTime(.zero - edge).nanoseconds == .min)
    }

    @Test func sumsAndDifferencesSaturate() {
        let (one, top) = (MediaTime(nanoseconds: 1), MediaTime(nanoseconds: .max))
        let bottom = MediaTime(nanoseconds: .min)
        #expect(top + one == top)
        #expect(bottom + MediaTime(nanoseconds: -1) == bottom)
        #expect(bottom - one == bottom)
        #expect(top - MediaTime(nanoseconds: -1) == top)
        #expect(MediaTime.zero - bottom == top)
        #expect(one + one == MediaTime(nanoseconds: 2))
        #expect(one - top == MediaTime(nanoseconds: -(.max - 1)))
    }

    @Test func timesCompare() {
        #expect(MediaTime(nanoseconds: -1) < .zero)
        #expect(MediaTime.zero < MediaTime(nanoseconds: 1))
        #expect(max(MediaTime(seconds: 1), MediaTime(seconds: 2)).seconds == 2)
    }

    @Test func aTimeIsPrintedAsGStreamerPrintsIt() {
        #expect(MediaTime.zero.description == "0:00:00.000000000")
        #expect(MediaTime(nanoseconds: 1_040_000_000).description == "0:00:01.040000000")
        #expect(MediaTime(nanoseconds: -1).description == "-0:00:00.000000001")
        #expect(MediaTime(value: 36_061, timescale: 1).description == "10:01:01.000000000")
        #expect(MediaTime(nanoseconds: .min).description == "-2562047:47:16.854775808")
    }

    @Test func theWallTimeOfAFrameIsThatOfItsSource() {
        var timing = LiveTiming(clockOrigin: MediaTime(seconds: 5), latency: .zero)
        #expect(timing.wallTime(at: MediaTime(seconds: 2)) == nil)
        timing.wallClockOrigin = MediaTime(seconds: 1000)
        #expect(timing.wallTime(at: MediaTime(seconds: 2)) == MediaTime(seconds: 1007))
    }
}
