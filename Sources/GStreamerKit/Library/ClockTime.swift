internal import CMediaBridge

/// A GStreamer time: whole nanoseconds, never negative. GStreamer's `GST_CLOCK_TIME_NONE` is `nil`.
public struct ClockTime: Hashable, Comparable, Sendable {
    /// Whole nanoseconds.
    public var nanoseconds: UInt64

    public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    /// `nil` for `GST_CLOCK_TIME_NONE`.
    init?(_ raw: GstClockTime) {
        guard raw != Self.none else { return nil }
        self.nanoseconds = UInt64(raw)
    }

    /// As GStreamer takes it.
    var raw: GstClockTime { GstClockTime(nanoseconds) }

    static let none = GstClockTime.max

    public static func < (a: ClockTime, b: ClockTime) -> Bool { a.nanoseconds < b.nanoseconds }
}

/// The monotonic system clock that every pipeline of the process is set to, so that their times
/// compare.
public enum SharedClock {
    /// The clock's time now.
    public static var now: ClockTime {
        ClockTime(nanoseconds: UInt64(gst_clock_get_time(clock.pointer)))
    }

    static let clock = ClockHandle()

    /// Sendable: a GstClock is thread-safe, and the pointer never changes.
    struct ClockHandle: @unchecked Sendable {
        let pointer: UnsafeMutablePointer<GstClock>
        init() {
            try? GStreamer.initialize()
            pointer = gst_system_clock_obtain()
        }
    }
}
