internal import Synchronization

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
        nanoseconds = duration.wholeNanoseconds
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

/// The relation between a live capture's running time and the clock that all pipelines share.
///
/// Frames of a live capture have it. Frames of a file do not, because a file has no capture time.
/// An output uses it to stay in sync with the capture, whenever the output was started.
public struct LiveTiming: Equatable, Sendable {
    /// The time of the shared clock at running time zero of the capture.
    public var clockOrigin: MediaTime

    /// The longest time after its running time at which a frame reaches the program, as the
    /// capture's elements declare it (a camera: one frame interval). A display delays frames by
    /// this much.
    public var latency: MediaTime

    /// How much later than its running time a receiver plays the frame, to compensate for uneven
    /// network delivery and to keep picture and sound in sync. Zero on frames of a capture. A
    /// display and a loudspeaker add it to the running time; a recording, which need not play in
    /// real time, does not.
    public var playoutDelay: MediaTime

    /// The time since 1970 (UTC) at zero of the shared clock, by the source's own clock; `nil` if the
    /// source does not state it. Network cameras state it by RTCP (RFC 3550, section 6.4.1) after a
    /// second or two, or by the clock that RFC 7273 describes.
    public var wallClockOrigin: MediaTime?

    /// Creates the relation.
    ///
    /// - Parameters:
    ///   - clockOrigin: The time of the shared clock at running time zero.
    ///   - latency: The longest time after its running time at which a frame reaches the program.
    ///   - playoutDelay: How much later a receiver plays the frame. Default zero.
    public init(clockOrigin: MediaTime, latency: MediaTime, playoutDelay: MediaTime = .zero) {
        self.clockOrigin = clockOrigin
        self.latency = latency
        self.playoutDelay = playoutDelay
    }

    /// Returns when a frame was captured by the source's own clock, as time since 1970 (UTC); `nil`
    /// if the source does not state it.
    ///
    /// - Parameter runningTime: The frame's running time.
    public func wallTime(at runningTime: MediaTime) -> MediaTime? {
        wallClockOrigin.map { $0 + clockOrigin + runningTime }
    }
}

/// The common time base of the video and audio of one source.
///
/// If two sources return the same base (``VideoSource/timeBase()``, ``AudioSource/timeBase()``),
/// the engine adds the same offset to the times of both, so that they stay in sync. The object that
/// creates the two sources keeps the base, and calls ``begin()`` for each run. Thread: any.
public final class MediaTimeBase: Sendable {
    private let shift = Mutex<MediaTime?>(nil)

    /// Creates a base without an offset; the first frame of a run determines it.
    public init() {}

    /// Starts a new run: discards the offset, so that the next frame determines a new one.
    public func begin() { shift.withLock { $0 = nil } }

    /// Returns the offset to add to the times of the source, as determined by the first frame of
    /// the run.
    ///
    /// - Parameter proposal: The offset to use if there is none yet.
    package func shift(proposing proposal: MediaTime) -> MediaTime {
        shift.withLock { shift in
            if let shift { return shift }
            shift = proposal
            return proposal
        }
    }

    /// Replaces the offset after the source's clock was set again.
    package func set(_ value: MediaTime) { shift.withLock { $0 = value } }
}
