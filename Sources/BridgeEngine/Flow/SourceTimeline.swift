internal import MediaCore

/// How the times of one track's sources become the engine's running time: forward, across sources.
///
/// Used under the lock of its track.
struct SourceTimeline {
    /// How frames of a source are to be understood.
    enum Verdict {
        /// Due at this time of the engine. `waits`: to be held until then.
        case due(MediaTime, latency: MediaTime?, waits: Bool)
        case refused(DropCause)
    }
    private let isOffline: Bool
    private var offset: MediaTime?
    private var lastOfSource: MediaTime?
    private var backwards = 0
    /// The time of the frame that went out last, of any source.
    private var last: MediaTime?
    /// How far frames are apart.
    private(set) var interval = MediaTime(nanoseconds: 33_333_333)

    /// How far a source's own clock may be off the engine's before it is set again.
    private static let tolerance = MediaTime(seconds: 1)
    /// How old a live frame may be.
    private static let oldest = MediaTime(seconds: 2)
    /// After so many frames from the past it is the clock that went back.
    private static let patience = 30

    init(isOffline: Bool) { self.isOffline = isOffline }

    /// Another source, or the same one started again.
    mutating func begin() {
        offset = nil
        lastOfSource = nil
        backwards = 0
    }

    /// - Parameters:
    ///   - base: What the source's sound is timed by, too.
    ///   - now: The engine's running time.
    ///   - origin: The clock's time at the engine's zero.
    mutating func judge(
        _ frame: borrowing VideoFrame, _ pacing: MediaPacing, _ base: MediaTimeBase?,
        now: MediaTime, origin: MediaTime
    ) -> Verdict {
        guard let time = frame.runningTime else { return .refused(.noTime) }
        guard time >= .zero else { return .refused(.badTime) }
        if let live = frame.liveTiming, !isOffline {
            let due = time + live.clockOrigin - origin
            // What is captured in the future is on a clock of its own.
            if due - now <= Self.tolerance { return judgeLive(due, live.latency, now) }
        }
        return judgeOwn(time, pacing, base, now)
    }

    /// A capture on the engine's clock: nothing to translate.
    private func judgeLive(_ due: MediaTime, _ latency: MediaTime, _ now: MediaTime) -> Verdict {
        if due < .zero { return .refused(.early) }
        if now - due > Self.oldest + latency { return .refused(.late) }
        if let last, due < last { return .refused(.backwards) }
        return .due(due, latency: latency, waits: false)
    }

    /// A file, or a program's own clock, whatever its zero is.
    private mutating func judgeOwn(
        _ time: MediaTime, _ pacing: MediaPacing, _ base: MediaTimeBase?, _ now: MediaTime
    ) -> Verdict {
        if let previous = lastOfSource, time < previous {
            backwards += 1
            guard backwards > Self.patience else { return .refused(.backwards) }
            offset = nil
        }
        backwards = 0
        let repeats = lastOfSource == time
        lastOfSource = time
        let next = last.map { $0 + interval } ?? .zero
        if isOffline {
            let due = repeats ? next : time + settle(at: next, for: time, base)
            return .due(max(due, last ?? due), latency: nil, waits: false)
        }
        if pacing == .engine {
            var due = time + settle(at: max(now, next), for: time, base)
            if now - due > Self.tolerance {
                due = reset(at: max(now, next), for: time)
                base?.set(due - time)
            }
            return .due(max(due, last ?? due), latency: .zero, waits: true)
        }
        // A source that says the same time again and again says none.
        if repeats { return .due(max(now, last ?? now), latency: .zero, waits: false) }
        let anchor = offset == nil && magnitude(time - now) < Self.tolerance ? time : now
        var due = time + settle(at: max(anchor, last ?? anchor), for: time)
        if magnitude(due - now) > Self.tolerance {
            due = reset(at: max(now, last ?? now), for: time)
        }
        return .due(max(due, last ?? due), latency: .zero, waits: false)
    }

    private func magnitude(_ time: MediaTime) -> MediaTime { max(time, .zero - time) }

    private mutating func settle(
        at due: MediaTime, for time: MediaTime, _ base: MediaTimeBase? = nil
    ) -> MediaTime {
        if let base {
            // What the sound of the same source found, where it came first.
            offset = base.shift(proposing: offset ?? due - time)
        }
        if let offset { return offset }
        offset = due - time
        return due - time
    }

    private mutating func reset(at due: MediaTime, for time: MediaTime) -> MediaTime {
        offset = due - time
        return due
    }

    /// A frame goes out. Only here does time go on: a frame that is judged may be overtaken while it is
    /// held until it is due.
    ///
    /// - Returns: Its time: that of the frame before it, where it would lie before that.
    mutating func commit(_ due: MediaTime) -> MediaTime {
        let time = max(due, last ?? due)
        if let last, time > last, time - last < Self.tolerance { interval = time - last }
        last = time
        return time
    }
}
