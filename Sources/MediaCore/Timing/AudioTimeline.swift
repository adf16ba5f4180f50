/// Converts the timestamps of audio sources to the engine's running time. The audio counterpart of
/// `SourceTimeline`; ``AudioContinuity`` then makes one gapless stream of the frames.
///
/// Used under the lock of its track.
package struct AudioTimeline: SourceTiming {
    package typealias Verdict = SourceClock.Verdict
    package let isOffline: Bool
    package var isLive: Bool?
    private var offset: MediaTime?
    private var drift = ClockDrift()
    /// The time since which live audio has been too late; `nil` if the last frame was not.
    private var lateSince: MediaTime?
    package var offsetNow: MediaTime { offset ?? .zero }

    /// How far audio without timestamps may run ahead or behind before it is set again.
    private static let slack = MediaTime(seconds: 0.2)

    package init(isOffline: Bool) { self.isOffline = isOffline }

    package mutating func judge(
        _ stamp: SourceClock.Stamp, _ needsPacing: Bool, _ base: MediaTimeBase?,
        at moment: SourceClock.Moment
    ) -> Verdict {
        let (next, now) = (moment.last, moment.now)
        guard let time = stamp.time else {
            return .due(untimed(next, now), latency: isOffline ? nil : .zero, waits: false)
        }
        if let live = stamp.liveTiming, let captured = captureTime(time, live, at: moment) {
            return judgeLive(captured, live.latency, now)
        }
        become(live: false)
        if isOffline {
            let due = time + settle(at: next ?? .zero, for: time, base)
            return .due(due, latency: nil, waits: false)
        }
        let start = max(now, next ?? now)
        if needsPacing {
            var due = time + settle(at: start, for: time, base)
            if now - due > SourceClock.tolerance { due = reset(at: start, for: time, base) }
            return .due(due, latency: .zero, waits: true)
        }
        return .due(follow(time, from: start, next, now, base), latency: .zero, waits: false)
    }

    /// A live capture on the engine's clock: its timestamps are used unless they are impossible.
    private mutating func judgeLive(
        _ captured: MediaTime, _ latency: MediaTime, _ now: MediaTime
    ) -> Verdict {
        if captured < .zero { return .refused(.early) }
        var shift = offsetNow
        if now - (captured + shift) > SourceClock.oldest + latency {
            let since = lateSince ?? now
            lateSince = since
            guard now - since >= SourceClock.longestLateness else { return .refused(.late) }
            shift = now - latency - captured
            drift = ClockDrift()
        }
        lateSince = nil
        shift = shift + drift.correction(now - (captured + shift), at: now, .live(latency))
        offset = shift
        return .due(captured + shift, latency: latency, waits: false)
    }

    /// Follows the program's own clock, so that audio stays in sync with video.
    private mutating func follow(
        _ time: MediaTime, from start: MediaTime, _ next: MediaTime?, _ now: MediaTime,
        _ base: MediaTimeBase?
    ) -> MediaTime {
        let isNear = max(time, now) - min(time, now) < SourceClock.tolerance
        // A clock equal or close to the engine's is used unchanged.
        let anchor = isNear ? max(time, next ?? time) : start
        let due = time + settle(at: anchor, for: time, base)
        if max(due, now) - min(due, now) > SourceClock.tolerance {
            drift = ClockDrift()
            return reset(at: start, for: time, base)
        }
        let correction = drift.correction(now - due, at: now, .own)
        return correction == .zero ? due : reset(at: due + correction, for: time, base)
    }

    private func untimed(_ next: MediaTime?, _ now: MediaTime) -> MediaTime {
        guard let next, !isOffline else { return next ?? (isOffline ? .zero : now) }
        return max(next, now) - min(next, now) > Self.slack ? now : next
    }

    private mutating func settle(
        at due: MediaTime, for time: MediaTime, _ base: MediaTimeBase?
    ) -> MediaTime {
        if let base { offset = base.shift(proposing: offset ?? due - time) }
        if let offset { return offset }
        offset = due - time
        return due - time
    }

    private mutating func reset(
        at due: MediaTime, for time: MediaTime, _ base: MediaTimeBase?
    ) -> MediaTime {
        offset = due - time
        base?.set(due - time)
        return due
    }
}
