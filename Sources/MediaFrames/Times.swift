public import GStreamerKit
public import MediaCore

extension GStreamer {
    /// The time now of the monotonic clock that all pipelines of the process share: the time that
    /// ``LiveTiming/clockOrigin`` counts in.
    public static var clockTime: MediaTime { MediaTime(SharedClock.now) }
}

extension MediaTime {
    /// Creates a media time from GStreamer's time, both in nanoseconds.
    package init(_ time: ClockTime) {
        self.init(nanoseconds: Int64(clamping: time.nanoseconds))
    }
}

extension ClockTime {
    /// Creates GStreamer's time from a media time; `nil` for a time before zero, which it cannot
    /// represent.
    package init?(_ time: MediaTime) {
        guard time.nanoseconds >= 0 else { return nil }
        self.init(nanoseconds: UInt64(time.nanoseconds))
    }
}
