/// The offset from a source's timestamps to the engine's running time. It follows a source's clock
/// that runs slow or fast in steps too small to see, and resulting timestamps never go backwards.
/// Used under the lock of its track.
struct SteeredShift {
    /// The current offset, which approaches ``target``.
    private(set) var present: MediaTime
    private var target: MediaTime
    private var drift: ClockDrift
    /// The minimum interval between two frames: parsers and muxers lose one of two frames with the
    /// same timestamp.
    static let leastStep = MediaTime(seconds: 0.001)
    /// Larger differences are reduced faster.
    private static let far = MediaTime(seconds: 0.25)

    /// - Parameter reference: The expected lateness of the most punctual frame; `nil` to measure
    ///   it.
    init(_ shift: MediaTime, reference: MediaTime? = nil) {
        (present, target) = (shift, shift)
        drift = ClockDrift(reference: reference)
    }

    /// Returns the engine's time of a frame.
    ///
    /// - Parameters:
    ///   - time: The source's timestamp.
    ///   - previous: The timestamp of the source's previous frame; `nil` for the first.
    ///   - last: The time of the track's last frame, from any source. If the first frame of a
    ///     source would be earlier, it follows that frame at the minimum interval, and later frames
    ///     return to their own times.
    mutating func apply(
        to time: MediaTime, after previous: MediaTime?, now: MediaTime,
        _ slack: ClockDrift.Slack, notBefore last: MediaTime?
    ) -> MediaTime {
        target = target + drift.correction(now - (time + target), at: now, slack)
        approach(in: max(.zero, previous.map { time - $0 } ?? .zero))
        let limit = max(now, last ?? now)
        if present > target, time + present > limit { present = max(target, limit - time) }
        if let last, time + present < last + Self.leastStep {
            present = last + Self.leastStep - time
        }
        return time + present
    }

    /// Moves `present` towards the target: forward quickly, back in steps small enough that
    /// timestamps still increase.
    private mutating func approach(in elapsed: MediaTime) {
        let gap = target - present
        if gap > .zero {
            present = present + min(gap, max(elapsed.divided(by: 10), gap.divided(by: 8)))
        } else {
            let isFar = .zero - gap > Self.far
            present = present - min(.zero - gap, elapsed.divided(by: isFar ? 2 : 10))
        }
    }
}

// MARK: Drift

/// Measures how far a source's clock has drifted from the engine's.
///
/// The lateness of single frames varies with the load; the lateness of the most punctual frame
/// within a second shows the clock.
struct ClockDrift {
    /// How far the most punctual frame of a second may be off without counting as drift.
    struct Slack {
        /// The tolerance for a clock that runs ahead.
        let ahead: MediaTime
        /// The tolerance for a clock that falls behind.
        let behind: MediaTime
        /// The source's declared latency, if its timestamps are capture times; `nil` for a clock of
        /// which only the arrival times of its frames are known.
        var latency: MediaTime?

        /// For a source's own clock.
        static let own = Slack(ahead: MediaTime(seconds: 0.02), behind: MediaTime(seconds: 0.02))

        /// For a live source: a queue that fills between capture and engine is not a clock drift.
        static func live(_ latency: MediaTime) -> Slack {
            Slack(ahead: own.ahead, behind: MediaTime(seconds: 0.2), latency: latency)
        }
    }
    /// The lateness of the most punctual frame at the beginning; `nil` before it is known.
    private var reference: MediaTime?
    /// The beginning of the present window, and the frames in it.
    private var since: MediaTime?
    private var least = MediaTime.zero
    private var count = 0

    private static let window = MediaTime(seconds: 1)
    /// With fewer frames the result reflects the load more than the clock, unless they span a
    /// longer time.
    private static let leastFrames = 8
    private static let longestWindow = MediaTime(seconds: 8)

    /// - Parameter reference: The expected lateness of the most punctual frame; `nil` to measure
    ///   it.
    init(reference: MediaTime? = nil) { self.reference = reference }

    /// Measures one frame.
    ///
    /// - Parameter lateness: The time between the frame's timestamp and its arrival.
    /// - Returns: The value to add to the timestamps from now on.
    mutating func correction(
        _ lateness: MediaTime, at now: MediaTime, _ slack: Slack
    ) -> MediaTime {
        least = count == 0 ? lateness : min(least, lateness)
        count += 1
        let began = since ?? now
        since = began
        guard now - began >= Self.window,
            count >= Self.leastFrames || now - began >= Self.longestWindow
        else { return .zero }
        let least = self.least
        (since, count) = (nil, 0)
        guard let latency = slack.latency else {
            let drift = least - (reference ?? least)
            reference = reference ?? least
            return drift > slack.behind || .zero - drift > slack.ahead ? drift : .zero
        }
        let known = reference ?? max(.zero, least)
        reference = known
        let most = max(known, latency) + slack.behind
        if least > most { return least - most }
        // A frame cannot arrive before it was captured.
        return .zero - least > slack.ahead ? least : .zero
    }
}

extension MediaTime {
    fileprivate func divided(by divisor: Int64) -> MediaTime {
        MediaTime(nanoseconds: nanoseconds / divisor)
    }
}
