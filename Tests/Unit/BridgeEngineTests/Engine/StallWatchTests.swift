import MediaCore
import Testing

@testable import BridgeEngine

struct StallWatchTests {
    private let limit = MediaTime(seconds: 2)

    private func at(_ seconds: Double) -> MediaTime { MediaTime(seconds: seconds) }

    @Test func stallAndRecoveryAreReportedOnce() {
        var watch = StallWatch()
        #expect(watch.look(since: at(10), now: at(12), limit: limit) == [])
        #expect(watch.look(since: at(10), now: at(13), limit: limit) == [.stalled])
        #expect(watch.look(since: at(10), now: at(20), limit: limit) == [])
        #expect(watch.isStalled)
        #expect(watch.look(since: at(19), now: at(20), limit: limit) == [.resumed])
        #expect(watch.look(since: at(19), now: at(20), limit: limit) == [])
        #expect(!watch.isStalled)
    }

    @Test func stallAndRecoveryBetweenTwoChecksAreBothReported() {
        var watch = StallWatch()
        #expect(watch.look(since: at(10), now: at(13), limit: limit) == [.stalled])
        // It moved once, and the next check came late.
        #expect(watch.look(since: at(14), now: at(20), limit: limit) == [.resumed, .stalled])
        #expect(watch.isStalled)
        #expect(watch.look(since: at(14), now: at(21), limit: limit) == [])
    }

    @Test func idleStreamIsNotStalled() {
        var watch = StallWatch()
        #expect(watch.look(since: nil, now: at(100), limit: limit) == [])
        #expect(watch.look(since: at(10), now: at(100), limit: limit) == [.stalled])
        #expect(watch.look(since: nil, now: at(100), limit: limit) == [.resumed])
    }

    @Test func restartIsNotReportedAsARecovery() {
        var watch = StallWatch()
        #expect(watch.look(since: at(10), now: at(100), limit: limit) == [.stalled])
        watch.reset()
        #expect(watch.look(since: at(99), now: at(100), limit: limit) == [])
    }
}
