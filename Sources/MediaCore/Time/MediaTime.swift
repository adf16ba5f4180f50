/// A point or a span of media time, in whole nanoseconds.
///
/// Positions are *running time* unless a name says otherwise: zero when the capture (or the engine)
/// began to play, not reset by a seek, and comparable between all objects that share a clock.
public struct MediaTime: Hashable, Comparable, Sendable {
    /// The number of nanoseconds. Negative only for a difference.
    public var nanoseconds: Int64

    /// Zero nanoseconds.
    public static let zero = MediaTime(nanoseconds: 0)

    /// Creates a time from nanoseconds.
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// Creates a time of `value / timescale` seconds, truncated to the nanosecond, as in C media
    /// APIs.
    ///
    /// - Parameters:
    ///   - value: The time in units of the time scale.
    ///   - timescale: Units per second; must not be zero. A result that does not fit (292 years) is
    ///     clamped.
    public init(value: Int64, timescale: Int32) {
        precondition(timescale != 0, "the time scale must not be zero")
        let scale = Int64(timescale)
        let (whole, tooFar) = value.dividedReportingOverflow(by: scale)
        let (scaled, overflow) = whole.multipliedReportingOverflow(by: 1_000_000_000)
        // The remainder is smaller than the scale, so its nanoseconds fit. It has the sign of the
        // quotient.
        let rest = tooFar ? 0 : value % scale * 1_000_000_000 / scale
        let (sum, beyond) = scaled.addingReportingOverflow(rest)
        let clamped: Int64 = (value < 0) == (timescale < 0) ? .max : .min
        self.nanoseconds = tooFar || overflow || beyond ? clamped : sum
    }

    /// Creates a time from seconds, rounded to the nanosecond. A value that does not fit is
    /// clamped; NaN becomes zero.
    public init(seconds: Double) {
        let scaled = (seconds * 1e9).rounded()
        if let exact = Int64(exactly: scaled) {
            self.nanoseconds = exact
        } else {
            self.nanoseconds = scaled.isNaN ? 0 : (scaled < 0 ? .min : .max)
        }
    }

    /// Creates a time from a duration, truncated to the nanosecond. A value that does not fit is
    /// clamped.
    public init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, beyond) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        self.nanoseconds = overflow || beyond ? (seconds < 0 ? .min : .max) : sum
    }

    /// The time in seconds, as precisely as a `Double` can represent it.
    public var seconds: Double { Double(nanoseconds) / 1e9 }

    /// The time as a `Duration`.
    public var duration: Duration { .nanoseconds(nanoseconds) }

    /// Compares the nanoseconds.
    public static func < (a: MediaTime, b: MediaTime) -> Bool { a.nanoseconds < b.nanoseconds }

    /// Adds two times. Saturates instead of overflowing, because a time from a damaged file must
    /// not trap.
    public static func + (a: MediaTime, b: MediaTime) -> MediaTime {
        let (sum, overflow) = a.nanoseconds.addingReportingOverflow(b.nanoseconds)
        return MediaTime(nanoseconds: overflow ? (a.nanoseconds < 0 ? .min : .max) : sum)
    }

    /// Subtracts two times. Saturates instead of overflowing.
    public static func - (a: MediaTime, b: MediaTime) -> MediaTime {
        let (difference, overflow) = a.nanoseconds.subtractingReportingOverflow(b.nanoseconds)
        return MediaTime(nanoseconds: overflow ? (a.nanoseconds < 0 ? .min : .max) : difference)
    }
}

extension MediaTime: CustomStringConvertible {
    /// The time in GStreamer's format: `0:00:01.040000000`.
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
