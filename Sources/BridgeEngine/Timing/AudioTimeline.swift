internal import MediaCore

/// How the times of sources of sound become the engine's running time. The twin of `SourceTimeline`; what
/// makes one unbroken stream of it is ``AudioContinuity``.
///
/// Used under the lock of its track.
struct AudioTimeline {
    enum Verdict {
        /// Due at this time of the engine. `waits`: to be held until then.
        case due(MediaTime, latency: MediaTime?, waits: Bool)
        case refused(DropCause)
    }
    private enum Kind { case live, own }
    private let isOffline: Bool
    private var kind: Kind?
    private var offset: MediaTime?
    private var drift = ClockDrift()
    /// Since when live sound has come too late; `nil` where the last did not.
    private var lateSince: MediaTime?

    /// How far a source's own clock may be off the engine's before it is set again.
    private static let tolerance = MediaTime(seconds: 1)
    /// How far sound without times may run ahead or behind before it is set again.
    private static let slack = MediaTime(seconds: 0.2)
    /// How old live sound may be.
    private static let oldest = MediaTime(seconds: 2)
    /// When it has been older for so long, it is the clock that is wrong.
    private static let latePatience = MediaTime(seconds: 1)
    /// How far an own clock may run away before it is followed.
    private static let ownSlack = MediaTime(seconds: 0.02)
    /// The same of a live one: a queue on the way that fills is no clock.
    private static let liveSlack = MediaTime(seconds: 0.2)

    init(isOffline: Bool) { self.isOffline = isOffline }

    /// Another source, or the same one started again.
    mutating func begin() { self = AudioTimeline(isOffline: isOffline) }

    /// - Parameters:
    ///   - next: When the stream goes on, as far as is known.
    ///   - now: The engine's running time.
    ///   - origin: The clock's time at the engine's zero.
    mutating func judge(
        _ frame: borrowing AudioFrame, _ pacing: MediaPacing, _ base: MediaTimeBase?,
        next: MediaTime?, now: MediaTime, origin: MediaTime
    ) -> Verdict {
        guard let time = frame.runningTime else {
            return .due(untimed(next, now), latency: isOffline ? nil : .zero, waits: false)
        }
        if let live = frame.liveTiming, !isOffline {
            let captured = time + live.clockOrigin - origin
            let shift = kind == .live ? offset ?? .zero : .zero
            // What is captured in the future is on a clock of its own.
            if captured + shift - now <= Self.tolerance {
                become(.live)
                return judgeLive(captured, live.latency, now)
            }
        }
        become(.own)
        if isOffline {
            let due = time + settle(at: next ?? .zero, for: time, base)
            return .due(due, latency: nil, waits: false)
        }
        let start = max(now, next ?? now)
        if pacing == .engine {
            var due = time + settle(at: start, for: time, base)
            if now - due > Self.tolerance { due = reset(at: start, for: time, base) }
            return .due(due, latency: .zero, waits: true)
        }
        return .due(follow(time, from: start, next, now, base), latency: .zero, waits: false)
    }

    /// Times of one kind say nothing about those of the other.
    private mutating func become(_ kind: Kind) {
        if let before = self.kind, before != kind { begin() }
        self.kind = kind
    }

    /// A capture on the engine's clock: its times are right, unless they cannot be.
    private mutating func judgeLive(
        _ captured: MediaTime, _ latency: MediaTime, _ now: MediaTime
    ) -> Verdict {
        if captured < .zero { return .refused(.early) }
        var shift = offset ?? .zero
        if now - (captured + shift) > Self.oldest + latency {
            let since = lateSince ?? now
            lateSince = since
            guard now - since >= Self.latePatience else { return .refused(.late) }
            shift = now - latency - captured
            drift = ClockDrift()
        }
        lateSince = nil
        shift =
            shift
            + drift.correction(
                now - (captured + shift), at: now, ahead: Self.ownSlack, behind: Self.liveSlack,
                usual: latency)
        offset = shift
        return .due(captured + shift, latency: latency, waits: false)
    }

    /// A program's own clock, followed wherever it runs: sound stays with the pictures.
    private mutating func follow(
        _ time: MediaTime, from start: MediaTime, _ next: MediaTime?, _ now: MediaTime,
        _ base: MediaTimeBase?
    ) -> MediaTime {
        let isNear = max(time, now) - min(time, now) < Self.tolerance
        // A clock that is the engine's, or nearly, is believed.
        let anchor = isNear ? max(time, next ?? time) : start
        let due = time + settle(at: anchor, for: time, base)
        if max(due, now) - min(due, now) > Self.tolerance {
            drift = ClockDrift()
            return reset(at: start, for: time, base)
        }
        let correction = drift.correction(
            now - due, at: now, ahead: Self.ownSlack, behind: Self.ownSlack)
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
