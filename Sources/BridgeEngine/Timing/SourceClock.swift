internal import MediaCore

/// How the times of one source become the engine's running time.
///
/// A live capture on the engine's clock says itself when a frame was taken, and is believed as long as
/// that can be. Any other clock is laid over the engine's where its first frame is, and followed from
/// there: a clock that runs slow or fast is steered, so that pictures stay with the sound. Used under the
/// lock of its track.
struct SourceClock {
    /// How a frame of the source is to be understood.
    enum Verdict {
        /// Due at this time of the engine. `waits`: to be held until then.
        case due(MediaTime, latency: MediaTime?, waits: Bool)
        case refused(DropCause)
    }
    /// What the engine knows when a frame comes.
    struct Moment {
        /// The engine's running time.
        let now: MediaTime
        /// The clock's time at the engine's zero.
        let origin: MediaTime
        /// The time of the track's last frame, of any source.
        let last: MediaTime?
        /// How far the track's frames are apart.
        let interval: MediaTime

        /// Where a frame that follows the last one without a gap would be.
        var next: MediaTime { last.map { $0 + interval } ?? .zero }
    }
    private enum Kind { case live, own }

    private let isOffline: Bool
    private var kind: Kind?
    /// From the source's time to the engine's; `nil` before the first frame.
    private var shift: SteeredShift?
    private var lastOfSource: MediaTime?
    private var backwards = Run()
    /// Since when every frame has come too late; `nil` where the last one did not.
    private var lateSince: MediaTime?

    /// How far a source's own clock may be off the engine's before it is set again.
    private static let tolerance = MediaTime(seconds: 1)
    /// How old a live frame may be.
    private static let oldest = MediaTime(seconds: 2)
    /// When frames have come too late for so long, it is the clock that is wrong.
    private static let latePatience = MediaTime(seconds: 1)
    /// How much later than at its beginning a live source may be before its clock is held to run slow:
    /// a queue on the way that fills is no clock.
    private static let liveSlack = MediaTime(seconds: 0.2)
    /// How far an own clock may run away before it is steered.
    private static let ownSlack = MediaTime(seconds: 0.02)

    init(isOffline: Bool) { self.isOffline = isOffline }

    /// - Parameter base: What the source's sound is timed by, too.
    mutating func judge(
        _ frame: borrowing VideoFrame, _ pacing: MediaPacing, _ base: MediaTimeBase?,
        at moment: Moment
    ) -> Verdict {
        guard let time = frame.runningTime else { return .refused(.noTime) }
        guard time >= .zero else { return .refused(.badTime) }
        if let live = frame.liveTiming, !isOffline {
            let captured = time + live.clockOrigin - moment.origin
            let ahead = captured + (kind == .live ? shift?.present ?? .zero : .zero) - moment.now
            // What is captured in the future is on a clock of its own.
            if ahead <= Self.tolerance {
                become(.live)
                return judgeLive(captured, live.latency, moment)
            }
        }
        become(.own)
        return judgeOwn(time, pacing, base, moment)
    }

    /// Times of one kind say nothing about those of the other.
    private mutating func become(_ kind: Kind) {
        if let before = self.kind, before != kind { self = SourceClock(isOffline: isOffline) }
        self.kind = kind
    }

    // MARK: Live

    /// A capture on the engine's clock: its times are right, unless they cannot be.
    private mutating func judgeLive(
        _ captured: MediaTime, _ latency: MediaTime, _ moment: Moment
    ) -> Verdict {
        if captured < .zero { return .refused(.early) }
        var isAnew = false
        if let previous = lastOfSource, captured < previous {
            guard backwards.lasts(captured, moment.now) else { return .refused(.backwards) }
            isAnew = true
        }
        var shift = self.shift ?? SteeredShift(.zero)
        if !isAnew, moment.now - (captured + shift.present) > Self.oldest + latency {
            let since = lateSince ?? moment.now
            lateSince = since
            guard moment.now - since >= Self.latePatience else { return .refused(.late) }
            isAnew = true
        }
        if isAnew { shift = SteeredShift(moment.now - latency - captured) }
        (backwards, lateSince) = (Run(), nil)
        let slack = SteeredShift.Slack(
            ahead: Self.ownSlack, behind: Self.liveSlack, latency: latency)
        let due = shift.apply(
            to: captured, after: lastOfSource, now: moment.now, slack, notBefore: moment.last)
        (self.shift, lastOfSource) = (shift, captured)
        return .due(due, latency: latency, waits: false)
    }

    // MARK: Any other clock

    /// A file, or a program's own clock, whatever its zero is.
    private mutating func judgeOwn(
        _ time: MediaTime, _ pacing: MediaPacing, _ base: MediaTimeBase?, _ moment: Moment
    ) -> Verdict {
        if let previous = lastOfSource, time < previous {
            // Without a clock of the engine's there is the source's alone.
            guard backwards.lasts(time, isOffline ? nil : moment.now) else {
                return .refused(.backwards)
            }
            (shift, lastOfSource) = (nil, nil)
        }
        backwards = Run()
        let previous = lastOfSource
        lastOfSource = time
        let last = moment.last
        if isOffline {
            let next = moment.next
            let due = previous == time ? next : time + settle(at: next, for: time, base)
            return .due(max(due, last ?? due), latency: nil, waits: false)
        }
        if pacing == .engine {
            let start = max(moment.now, moment.next)
            var due = time + settle(at: start, for: time, base)
            if moment.now - due > Self.tolerance {
                shift = SteeredShift(start - time)
                base?.set(start - time)
                due = start
            }
            return .due(max(due, last ?? due), latency: .zero, waits: true)
        }
        return .due(follow(time, after: previous, moment), latency: .zero, waits: false)
    }

    /// A program's own clock, followed wherever it runs.
    private mutating func follow(
        _ time: MediaTime, after previous: MediaTime?, _ moment: Moment
    ) -> MediaTime {
        let (now, last) = (moment.now, moment.last)
        // A source that says the same time again and again says none.
        if previous == time { return max(now, last.map { $0 + SteeredShift.leastStep } ?? now) }
        // A clock that is the engine's, or nearly, is believed; of any other the most punctual frame is
        // taken for one that comes at once.
        var shift = self.shift ?? SteeredShift(.zero)
        if !Self.isNear(time + shift.present, now) {
            shift = SteeredShift(now - time, reference: .zero)
        }
        let slack = SteeredShift.Slack(
            ahead: Self.ownSlack, behind: Self.ownSlack, latency: nil)
        let due = shift.apply(to: time, after: previous, now: now, slack, notBefore: last)
        self.shift = shift
        return due
    }

    private static func isNear(_ a: MediaTime, _ b: MediaTime) -> Bool {
        max(a, b) - min(a, b) <= tolerance
    }

    private mutating func settle(
        at due: MediaTime, for time: MediaTime, _ base: MediaTimeBase?
    ) -> MediaTime {
        let proposal = shift?.present ?? due - time
        // What the sound of the same source found, where it came first.
        let settled = base?.shift(proposing: proposal) ?? proposal
        shift = SteeredShift(settled)
        return settled
    }

    /// Frames in a row that are refused for their time. When it has lasted for a while, it is the clock
    /// that is another.
    private struct Run {
        private var count = 0
        private var first: (time: MediaTime, now: MediaTime?)?

        private static let longest = MediaTime(seconds: 0.5)
        private static let mostFrames = 30

        /// - Parameter now: `nil` where only the source's time counts.
        mutating func lasts(_ time: MediaTime, _ now: MediaTime?) -> Bool {
            count += 1
            guard let first else {
                first = (time, now)
                return false
            }
            if count > Self.mostFrames || time - first.time >= Self.longest { return true }
            guard let now, let since = first.now else { return false }
            return now - since >= Self.longest
        }
    }
}
