import MediaBridge
import Testing

@testable import class MediaBridgeWebRTC.SendTimeline

struct SendTimelineTests {
    private let timeline = SendTimeline(origin: MediaTime(seconds: 100))

    /// The encoder takes 300 ms for the first video frame, and no time for the first audio.
    @Test func streamsOfAFileStayAlignedWhenOneBeginsLate() {
        let sound = timeline.due(.zero, nil, now: MediaTime(seconds: 105))
        let picture = timeline.due(.zero, nil, now: MediaTime(seconds: 105.3))
        #expect(sound == MediaTime(seconds: 5) && picture == sound)
        let later = timeline.due(MediaTime(seconds: 2), nil, now: MediaTime(seconds: 300))
        #expect(later == MediaTime(seconds: 7))
    }

    @Test func liveUnitsAreDueWhenTheyWereCaptured() {
        let live = LiveTiming(
            clockOrigin: MediaTime(seconds: 103), latency: MediaTime(seconds: 0.1))
        let due = timeline.due(MediaTime(seconds: 4), live, now: MediaTime(seconds: 900))
        #expect(due == MediaTime(seconds: 7))
    }

    @Test func theRTPClockCountsFromTheOriginAndWraps() {
        #expect(timeline.timestamp(clockRate: 90_000, now: MediaTime(seconds: 102)) == 180_000)
        // 2^32 units of a 64 kHz clock last 67,108.864 s.
        let late = MediaTime(nanoseconds: 100_000_000_000 + 67_108_864_000_000 + 1_000_000_000)
        #expect(timeline.timestamp(clockRate: 64_000, now: late) == 64_000)
    }
}
