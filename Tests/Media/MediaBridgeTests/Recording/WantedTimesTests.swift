import TestSupport
import Testing

@testable import MediaBridge

/// The time ranges of a recording around detected events.
@Suite(.hangGuard) struct WantedTimesTests {
    private func time(_ seconds: Double) -> MediaTime { MediaTime(seconds: seconds) }

    private func wanted(
        _ detectors: Set<String> = ["motion"], before: Double = 2, after: Double = 3
    ) -> WantedTimes {
        WantedTimes(
            RecordedEvents(of: detectors, before: .seconds(before), after: .seconds(after)))
    }

    private func ranges(_ wanted: WantedTimes) -> [ClosedRange<Double>] {
        wanted.ranges.map { $0.from.seconds...$0.to.seconds }
    }

    @Test func eventIsWantedWithTheTimeAroundIt() {
        var wanted = wanted()
        for (second, isPresent) in [(8.0, false), (10, true), (11, true), (12, false), (13, false)]
        {
            wanted.note("motion", isPresent: isPresent, at: time(second))
        }
        #expect(ranges(wanted) == [8...15])
        #expect(wanted.decided(isLive: false) == time(11))
    }

    @Test func sparseInspectionsOfOneEventAreOneRange() {
        var wanted = wanted()
        wanted.note("motion", isPresent: true, at: time(10))
        wanted.note("motion", isPresent: true, at: time(40))
        #expect(ranges(wanted) == [8...43])
    }

    @Test(arguments: [(15.0, [8...20.0]), (17.1, [8...15.0, 15.1...22.1])])
    func eventsWhoseTimesTouchShareARange(second: Double, expected: [ClosedRange<Double>]) {
        var wanted = wanted()
        for (at, isPresent) in [(10, true), (12, false), (second, true), (second + 2, false)] {
            wanted.note("motion", isPresent: isPresent, at: time(at))
        }
        #expect(ranges(wanted) == expected)
    }

    @Test func decisionWaitsForEveryDetectorOfAFile() {
        var wanted = wanted(["motion", "sound"])
        wanted.note("motion", isPresent: false, at: time(60))
        #expect(wanted.decided(isLive: false) == .zero)
        // In a live recording, a missing stream must not prevent the recording.
        #expect(wanted.decided(isLive: true) == time(58))
        wanted.note("sound", isPresent: false, at: time(50))
        #expect(wanted.decided(isLive: false) == time(48))
        #expect(wanted.decided(isLive: true) == time(48))
        wanted.end("sound")
        #expect(wanted.decided(isLive: false) == time(58))
    }

    @Test func statePresentAtTheEndNeverEnds() {
        var wanted = wanted()
        wanted.note("motion", isPresent: true, at: time(10))
        wanted.end("motion")
        #expect(wanted.ranges.map(\.to.nanoseconds) == [.max])
        #expect(wanted.decided(isLive: false).nanoseconds == .max)
    }

    @Test func everythingIsWantedAfterADetectorFailed() {
        var wanted = wanted()
        wanted.note("motion", isPresent: false, at: time(10))
        wanted.end("motion", hasFailed: true)
        #expect(wanted.ranges.map(\.from) == [time(8)])
        #expect(wanted.ranges.map(\.to.nanoseconds) == [.max])
    }

    @Test func anotherDetectorFillsTheGapBetweenTwoEvents() {
        var wanted = wanted(["motion", "sound"])
        for (at, isPresent) in [(10.0, true), (11, false), (20, true), (21, false)] {
            wanted.note("motion", isPresent: isPresent, at: time(at))
        }
        #expect(ranges(wanted) == [8...14, 18...24])
        wanted.note("sound", isPresent: true, at: time(15))
        #expect(ranges(wanted) == [8...24])
    }
}
