/// A point or a span of media time, in whole nanoseconds.
///
/// Positions are *running time* unless a name says otherwise: zero when the capture (or the engine)
/// began to play, never rewound by a seek, comparable between everything that shares a clock.
public struct MediaTime: Hashable, Comparable, Sendable {
    /// Nanoseconds. Negative only as a difference.
    public var nanoseconds: Int64

    public static let zero = MediaTime(nanoseconds: 0)

    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// `value / timescale` seconds, truncated to the nanosecond; the C-Media way of writing a time.
    ///
    /// - Parameter timescale: Units in a second; must not be zero. A result that does not fit
    ///   (292 years) is clamped.
    public init(value: Int64, timescale: Int32) {
        precondition(timescale != 0, "a time scale of zero has no meaning")
        let scale = Int64(timescale)
        let (whole, tooFar) = value.dividedReportingOverflow(by: scale)
        let (scaled, overflow) = whole.multipliedReportingOverflow(by: 1_000_000_000)
        // The rest is below the scale, so its nanoseconds fit; it has the sign of the whole.
        let rest = tooFar ? 0 : value % scale * 1_000_000_000 / scale
        let (sum, beyond) = scaled.addingReportingOverflow(rest)
        let clamped: Int64 = (value < 0) == (timescale < 0) ? .max : .min
        self.nanoseconds = tooFar || overflow || beyond ? clamped : sum
    }

    /// Seconds, rounded to the nanosecond. A value that is not finite or does not fit is clamped.
    public init(seconds: Double) {
        let scaled = (seconds * 1e9).rounded()
        if let exact = Int64(exactly: scaled) {
            self.nanoseconds = exact
        } else {
            self.nanoseconds = scaled.isNaN ? 0 : (scaled < 0 ? .min : .max)
        }
    }

    public init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, beyond) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        self.nanoseconds = overflow || beyond ? (seconds < 0 ? .min : .max) : sum
    }

    /// Seconds, as near as a Double comes.
    public var seconds: Double { Double(nanoseconds) / 1e9 }

    public var duration: Duration { .nanoseconds(nanoseconds) }

    public static func < (a: MediaTime, b: MediaTime) -> Bool { a.nanoseconds < b.nanoseconds }

    /// Saturates instead of overflowing: a time read from a broken file must not trap.
    public static func + (a: MediaTime, b: MediaTime) -> MediaTime {
        let (sum, overflow) = a.nanoseconds.addingReportingOverflow(b.nanoseconds)
        return MediaTime(nanoseconds: overflow ? (a.nanoseconds < 0 ? .min : .max) : sum)
    }

    /// Saturates instead of overflowing.
    public static func - (a: MediaTime, b: MediaTime) -> MediaTime {
        let (difference, overflow) = a.nanoseconds.subtractingReportingOverflow(b.nanoseconds)
        return MediaTime(nanoseconds: overflow ? (a.nanoseconds < 0 ? .min : .max) : difference)
    }
}

extension MediaTime: CustomStringConvertible {
    /// `0:00:01.040000000`, the way GStreamer prints a time.
    public var description: String {
        func padded(_ number: UInt64, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let magnitude = nanoseconds.magnitude
        let seconds = magnitude / 1_000_000_000
        let text =
            "\(seconds / 3600):\(padded(seconds / 60 % 60, 2)):\(padded(seconds % 60, 2))"
            + ".\(padded(magnitude % 1_000_000_000, 9))"
        return nanoseconds < 0 ? "-" + text : text
    }
}
