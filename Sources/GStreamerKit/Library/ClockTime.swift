internal import CMediaBridge

/// A GStreamer time: whole nanoseconds, never negative. GStreamer's `GST_CLOCK_TIME_NONE` is `nil`.
package struct ClockTime: Hashable, Comparable, Sendable {
    /// The time in nanoseconds.
    package var nanoseconds: UInt64

    /// Creates a time from a number of nanoseconds.
    package init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    /// `nil` for `GST_CLOCK_TIME_NONE`.
    init?(_ raw: GstClockTime) {
        guard raw != Self.none else { return nil }
        self.nanoseconds = UInt64(raw)
    }

    /// The time as a GstClockTime.
    var raw: GstClockTime { GstClockTime(nanoseconds) }

    static let none = GstClockTime.max

    /// Compares the numbers of nanoseconds.
    package static func < (a: ClockTime, b: ClockTime) -> Bool { a.nanoseconds < b.nanoseconds }
}

/// The monotonic system clock that all pipelines of the process use, so that their times can be
/// compared.
package enum SharedClock {
    /// The clock's time now, as GStreamer counts it.
    package static var now: ClockTime {
        ClockTime(nanoseconds: UInt64(gst_clock_get_time(clock)))
    }

    /// Not isolated: a GstClock is thread-safe.
    nonisolated(unsafe) static let clock: UnsafeMutablePointer<GstClock> = {
        try? GStreamer.initialize()
        return gst_system_clock_obtain()
    }()
}
