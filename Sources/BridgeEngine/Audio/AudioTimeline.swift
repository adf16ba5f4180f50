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
    private let isOffline: Bool
    private var offset: MediaTime?

    /// How far a source's own clock may be off the engine's before it is set again.
    private static let tolerance = MediaTime(seconds: 1)
    /// How far sound without times may run ahead or behind before it is set again.
    private static let slack = MediaTime(seconds: 0.2)
    /// How old live sound may be.
    private static let oldest = MediaTime(seconds: 2)

    init(isOffline: Bool) { self.isOffline = isOffline }

    /// Another source, or the same one started again.
    mutating func begin() { offset = nil }

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
            let due = time + live.clockOrigin - origin
            // What is captured in the future is on a clock of its own.
            if due - now <= Self.tolerance {
                if due < .zero { return .refused(.early) }
                if now - due > Self.oldest + live.latency { return .refused(.late) }
                return .due(due, latency: live.latency, waits: false)
            }
        }
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
        let isNear = max(time, now) - min(time, now) < Self.tolerance
        // A clock that is the engine's, or nearly, is believed.
        let anchor = isNear ? max(time, next ?? time) : start
        var due = time + settle(at: anchor, for: time, base)
        if max(due, now) - min(due, now) > Self.tolerance {
            due = reset(at: start, for: time, base)
        }
        return .due(due, latency: .zero, waits: false)
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
