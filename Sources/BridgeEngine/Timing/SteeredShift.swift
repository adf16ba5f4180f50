internal import MediaCore

/// The offset from a source's timestamps to the engine's running time. It follows a source's clock
/// that runs slow or fast in steps too small to see, and resulting timestamps never go backwards.
///
/// The lateness of single frames varies with the load; the lateness of the most punctual frame
/// shows the clock. Used under the lock of its track.
struct SteeredShift {
    /// How far the most punctual frame of a second may be off before the offset is adjusted.
    struct Slack {
        /// The tolerance for a clock that runs ahead.
        let ahead: MediaTime
        /// The tolerance for a clock that falls behind.
        let behind: MediaTime
        /// The source's declared latency, if its timestamps are capture times; `nil` for a clock of
        /// which only the arrival times of its frames are known.
        let latency: MediaTime?
    }
    /// The current offset, which approaches ``target``.
    private(set) var present: MediaTime
    private var target: MediaTime
    /// The lateness of the most punctual frame at the beginning; `nil` before it is known.
    private var reference: MediaTime?
    private var window = Window()

    private struct Window {
        var since: MediaTime?
        var count = 0
        var least = MediaTime.zero
    }
    private static let window = MediaTime(seconds: 1)
    /// With fewer frames the result reflects the load more than the clock.
    private static let leastFrames = 8
    /// The minimum interval between two frames: parsers and muxers lose one of two frames with the
    /// same timestamp.
    static let leastStep = MediaTime(seconds: 0.001)
    /// Larger differences are reduced faster.
    private static let far = MediaTime(seconds: 0.25)

    /// - Parameter reference: The expected lateness of the most punctual frame; `nil` to measure
    ///   it.
    init(_ shift: MediaTime, reference: MediaTime? = nil) {
        (present, target) = (shift, shift)
        self.reference = reference
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
        to time: MediaTime, after previous: MediaTime?, now: MediaTime, _ slack: Slack,
        notBefore last: MediaTime?
    ) -> MediaTime {
        observe(now - (time + target), now, slack)
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

    private mutating func observe(_ lateness: MediaTime, _ now: MediaTime, _ slack: Slack) {
        window.least = window.count == 0 ? lateness : min(window.least, lateness)
        window.count += 1
        guard let since = window.since else {
            window.since = now
            return
        }
        guard now - since >= Self.window, window.count >= Self.leastFrames else { return }
        let least = window.least
        window = Window()
        if let latency = slack.latency {
            let usual = reference ?? max(.zero, least)
            reference = usual
            let most = max(usual, latency) + slack.behind
            if least > most { target = target + (least - most) }
            // A frame cannot arrive before it was captured.
            if .zero - least > slack.ahead { target = target + least }
        } else {
            let usual = reference ?? least
            reference = usual
            let drift = least - usual
            if drift > slack.behind || .zero - drift > slack.ahead { target = target + drift }
        }
    }
}

extension MediaTime {
    fileprivate func divided(by divisor: Int64) -> MediaTime {
        MediaTime(nanoseconds: nanoseconds / divisor)
    }
}
