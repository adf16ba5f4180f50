/// Converts the timestamps of one source to the engine's running time.
///
/// A live capture on the engine's clock carries its capture time, which is used while it is
/// plausible. Any other clock is aligned with the engine's at its first frame and then followed:
/// the offset of a clock that runs slow or fast is adjusted, so that video stays in sync with
/// audio. Used under the lock of its track.
package struct SourceClock: SourceTiming {
    /// The decision about a frame of the source.
    package enum Verdict {
        /// Due at this running time of the engine. `waits`: whether to hold the frame until then.
        case due(MediaTime, latency: MediaTime?, waits: Bool)
        case refused(DropCause)
    }
    /// The state of the engine and the track when a frame arrives.
    package struct Moment {
        /// The engine's running time.
        package let now: MediaTime
        /// The clock's time at running time zero of the engine.
        package let origin: MediaTime
        /// The time of the track's last frame, from any source; for audio the end of that frame.
        package let last: MediaTime?
        /// The interval between the track's frames.
        package let interval: MediaTime

        package init(now: MediaTime, origin: MediaTime, last: MediaTime?, interval: MediaTime) {
            (self.now, self.origin, self.last, self.interval) = (now, origin, last, interval)
        }

        /// The time of a frame that follows the last one without a gap.
        var next: MediaTime { last.map { $0 + interval } ?? .zero }
    }

    package let isOffline: Bool
    package var isLive: Bool?
    /// The offset from the source's time to the engine's; `nil` before the first frame.
    private var shift: SteeredShift?
    private var lastOfSource: MediaTime?
    private var backwards = Run()
    /// The time since which every frame has been too late; `nil` if the last one was not.
    private var lateSince: MediaTime?
    private var slowness = Slowness()
    package var isSlow: Bool { slowness.isSlow }
    package var offsetNow: MediaTime { shift?.present ?? .zero }

    /// How far a source's own clock may differ from the engine's before it is set again.
    static let tolerance = MediaTime(seconds: 1)
    /// The maximum age of a live frame.
    static let oldest = MediaTime(seconds: 2)
    /// If frames have been too late for this long, the clock is considered wrong.
    static let longestLateness = MediaTime(seconds: 1)

    package init(isOffline: Bool) { self.isOffline = isOffline }

    /// The timestamps of one frame, encoded or not.
    package struct Stamp {
        package let time: MediaTime?
        package let liveTiming: LiveTiming?
        /// How much later than `time` the picture is shown.
        package var lead = MediaTime.zero
        /// Whether the time may be negative: decoding begins before the first picture is shown.
        package var mayPrecedeZero = false
        /// Whether a clock that is far off may be set again here. Not between encoded frames that are shown
        /// in another order: their pictures would be shown out of order.
        package var mayJump = true

        package init(time: MediaTime?, liveTiming: LiveTiming?) {
            (self.time, self.liveTiming) = (time, liveTiming)
        }
    }

    package mutating func judge(
        _ stamp: Stamp, _ needsPacing: Bool, _ base: MediaTimeBase?,
        at moment: Moment
    ) -> Verdict {
        guard let time = stamp.time else { return .refused(.noTime) }
        guard time >= .zero || stamp.mayPrecedeZero else { return .refused(.badTime) }
        if let live = stamp.liveTiming, let captured = captureTime(time, live, at: moment) {
            return judgeLive(captured, live.latency, moment)
        }
        become(live: false)
        return judgeOwn(time, needsPacing, base, moment, mayJump: stamp.mayJump)
    }

    // MARK: Live

    /// A live capture on the engine's clock: its timestamps are used unless they are impossible.
    private mutating func judgeLive(
        _ captured: MediaTime, _ latency: MediaTime, _ moment: Moment
    ) -> Verdict {
        if captured < .zero { return .refused(.early) }
        var isRestart = false
        if let previous = lastOfSource, captured < previous {
            guard backwards.lasts(captured, moment.now) else { return .refused(.backwards) }
            isRestart = true
        }
        var shift = self.shift ?? SteeredShift(.zero)
        if !isRestart, moment.now - (captured + shift.present) > Self.oldest + latency {
            let since = lateSince ?? moment.now
            lateSince = since
            guard moment.now - since >= Self.longestLateness else { return .refused(.late) }
            isRestart = true
        }
        if isRestart { shift = SteeredShift(moment.now - latency - captured) }
        (backwards, lateSince) = (Run(), nil)
        let due = shift.apply(
            to: captured, after: lastOfSource, now: moment.now, .live(latency),
            notBefore: moment.last)
        (self.shift, lastOfSource) = (shift, captured)
        return .due(due, latency: latency, waits: false)
    }

    // MARK: Any other clock

    /// The timestamps of a file or of the program's own clock, which may start at any value.
    private mutating func judgeOwn(
        _ time: MediaTime, _ needsPacing: Bool, _ base: MediaTimeBase?, _ moment: Moment,
        mayJump: Bool
    ) -> Verdict {
        if let previous = lastOfSource, time < previous {
            // Without the engine's clock, only the source's timestamps count.
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
        if needsPacing {
            let start = max(moment.now, moment.next)
            var due = time + settle(at: start, for: time, base)
            let lateness = moment.now - due
            let isSlow = mayJump && base == nil && slowness.lasts(lateness)
            if isSlow || mayJump && lateness > Self.tolerance {
                due = isSlow ? moment.now : start
                shift = SteeredShift(due - time)
                base?.set(due - time)
            }
            return .due(max(due, last ?? due), latency: .zero, waits: true)
        }
        let due = follow(time, after: previous, moment, mayJump: mayJump)
        return .due(due, latency: .zero, waits: false)
    }

    /// Follows the program's own clock, so that the result stays close to the engine's time.
    private mutating func follow(
        _ time: MediaTime, after previous: MediaTime?, _ moment: Moment, mayJump: Bool
    ) -> MediaTime {
        let (now, last) = (moment.now, moment.last)
        // A source that repeats the same timestamp provides no timing.
        if previous == time { return max(now, last.map { $0 + SteeredShift.leastStep } ?? now) }
        // A clock equal or close to the engine's is used unchanged. For any other clock, the most
        // punctual frame is assumed to arrive without delay.
        var shift = self.shift ?? SteeredShift(.zero)
        if mayJump, !Self.isNear(time + shift.present, now) {
            shift = SteeredShift(now - time, reference: .zero)
        }
        let due = shift.apply(to: time, after: previous, now: now, .own, notBefore: last)
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
        // The offset that the audio of the same source has set, if it came first.
        let settled = base?.shift(proposing: proposal) ?? proposal
        shift = SteeredShift(settled)
        return settled
    }

    /// Frames that fall further and further behind: the source makes them more slowly than their
    /// timestamps say. After a single delay the next frames catch up instead.
    ///
    /// Sources with a time base are not changed: their audio would be interrupted for every frame.
    private struct Slowness {
        private(set) var isSlow = false
        private var last = MediaTime.zero
        private var growths = 0

        private static let noticeable = MediaTime(seconds: 0.02)

        /// Returns whether this frame, and those after it, must be given a later time.
        ///
        /// - Parameter lateness: How late the frame arrives by its timestamp; negative if it is early.
        mutating func lasts(_ lateness: MediaTime) -> Bool {
            guard lateness > .zero else {
                self = Slowness()
                return false
            }
            growths = lateness > max(last, Self.noticeable) ? growths + 1 : 0
            last = lateness
            if growths > 1 { isSlow = true }
            return isSlow
        }
    }

    /// Consecutive frames that are refused because of their timestamps. If the run lasts, the
    /// source has switched to another clock.
    private struct Run {
        private var count = 0
        private var first: (time: MediaTime, now: MediaTime?)?

        private static let longest = MediaTime(seconds: 0.5)
        private static let mostFrames = 30

        /// Returns whether the run has lasted so long that the source's clock must have changed.
        ///
        /// - Parameter now: The engine's running time; `nil` if only the source's timestamps count.
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

/// The timestamps of one track, which never go backwards, whichever source the frames come from.
///
/// Used under the lock of its track. A source's own timestamps are converted by its
/// ``SourceClock``.
package struct SourceTimeline {
    /// The timestamp of the last frame that was passed on, from any source.
    package private(set) var last: MediaTime?
    /// The interval between frames.
    package private(set) var interval = MediaTime(nanoseconds: 33_333_333)

    package init() {}

    /// Longer intervals say nothing about the frame rate.
    private static let longestInterval = MediaTime(seconds: 1)

    /// Assigns a frame's timestamp when the frame is passed on. Not done earlier, because another
    /// frame may overtake one that is held until it is due.
    ///
    /// - Returns: The frame's timestamp: `due`, but not less than the timestamp of the frame
    ///   before.
    package mutating func commit(_ due: MediaTime) -> MediaTime {
        let time = max(due, last ?? due)
        if let last, time > last, time - last < Self.longestInterval { interval = time - last }
        last = time
        return time
    }
}
