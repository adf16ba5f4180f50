internal import MediaCore

/// From the times of a live source to the engine's: a sum that follows the source's clock where it runs
/// slow or fast, in steps too small to see, and never back.
///
/// How late frames come varies with the load; how late the most punctual of them comes is the clock. Used
/// under the lock of its track.
struct SteeredShift {
    /// How far the most punctual frame of a second may be off before the shift is steered.
    struct Slack {
        /// Ahead of the clock.
        let ahead: MediaTime
        /// Behind it.
        let behind: MediaTime
        /// The latency that the source declares, for times that are those of the capture; `nil` for a
        /// clock of which no more is known than when its frames come.
        let latency: MediaTime?
    }
    /// What is added now. On its way to ``target``.
    private(set) var present: MediaTime
    private var target: MediaTime
    /// How late the most punctual frame came at the beginning; `nil` before that is known.
    private var reference: MediaTime?
    private var window = Window()

    private struct Window {
        var since: MediaTime?
        var count = 0
        var least = MediaTime.zero
    }
    private static let window = MediaTime(seconds: 1)
    /// Fewer frames say more of the load than of the clock.
    private static let leastFrames = 8
    /// How far two frames are apart at least: parsers and muxers lose one of two that have one time.
    static let leastStep = MediaTime(seconds: 0.001)
    /// What is further off than this is brought in faster.
    private static let far = MediaTime(seconds: 0.25)

    /// - Parameter reference: How late the most punctual frame is to come; `nil` to find that out.
    init(_ shift: MediaTime, reference: MediaTime? = nil) {
        (present, target) = (shift, shift)
        self.reference = reference
    }

    /// The engine's time of a frame.
    ///
    /// - Parameters:
    ///   - time: The source's.
    ///   - previous: That of its frame before.
    ///   - last: The time of the track's last frame, of any source: the first frame of a source that is
    ///     behind it follows it at once, and those that follow fall back to their own times.
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

    /// Moves towards the target: forward at once or nearly, back by so little that times still grow.
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
            // Nothing comes before it was taken.
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
