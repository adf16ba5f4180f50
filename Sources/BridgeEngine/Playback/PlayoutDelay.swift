internal import MediaCore
internal import Synchronization

/// The playout delay of one user's pictures and sound, chosen so that few frames are late and both
/// stay in sync.
///
/// Pictures are shown when nearly all of them are ready, together with the sound: the mix plays
/// sound no earlier than the pictures need, and pictures are delayed as much as the mix delays the
/// sound. All times are relative to the capture. Thread: any.
final class PlayoutDelay: Sendable {
    fileprivate struct Line {
        var arrivals = ArrivalHistogram()
        /// When a sink plays frames that are not delayed.
        var latency = MediaTime.zero
        /// The current delay after `latency`; `nil` before the first frame.
        var delay: MediaTime?
        var last: MediaTime?
        /// When frames should be played.
        private(set) var need = MediaTime.zero

        mutating func note(_ age: MediaTime, at now: MediaTime) {
            arrivals.note(age, at: now)
            let ready = arrivals.time(for: PlayoutDelay.share)
            need = min(max(latency, ready + PlayoutDelay.margin), PlayoutDelay.longest)
        }
    }
    fileprivate struct State {
        var lines: [MediaTrackID: Line] = [:]
        /// When the mix plays the user's sound; `nil` if it does not.
        var sound: MediaTime?
    }
    private let state = Mutex(State())
    /// The fraction of frames that should be in time.
    fileprivate static let share = 0.97
    /// The time that a display needs.
    fileprivate static let margin = MediaTime(seconds: 0.005)
    fileprivate static let longest = MediaTime(seconds: 1)
    /// How fast the delay changes: by at most a fifth of the elapsed time. Times then still
    /// increase, and pictures that arrive in decoding order keep their order.
    private static let steepness: Int64 = 5

    /// Records a live frame if it is ready, and returns its timing with the playout delay; the
    /// timing of any other frame is unchanged.
    ///
    /// - Parameter isReady: Whether the frame is ready; otherwise it must still be decoded.
    func timing(
        of frame: some MediaFrame, in stream: MediaTrackID, on clock: EngineClock,
        isReady: Bool = true
    ) -> LiveTiming? {
        guard !clock.isOffline, let time = frame.runningTime, var live = frame.liveTiming else {
            return frame.liveTiming
        }
        live.playoutDelay = delay(
            of: stream, captured: time, latency: live.latency, isReady: isReady, now: clock.now)
        return live
    }

    /// Records a frame if it is ready, and returns its playout delay after `latency`.
    ///
    /// - Parameters:
    ///   - time: The capture time.
    ///   - latency: When sinks play the frame if it is not delayed.
    ///   - isReady: Whether the frame is ready; otherwise it must still be decoded.
    ///   - now: The current running time.
    func delay(
        of stream: MediaTrackID, captured time: MediaTime, latency: MediaTime, isReady: Bool,
        now: MediaTime
    ) -> MediaTime {
        state.withLock { state in
            var line = state.lines[stream] ?? Line()
            line.latency = latency
            if isReady { line.note(now - time, at: now) }
            state.lines[stream] = line
            let wanted = max(.zero, state.wanted(for: stream, at: now) - latency)
            let delay = line.delay.map { present in
                let elapsed = max(.zero, line.last.map { time - $0 } ?? .zero)
                let most = MediaTime(nanoseconds: elapsed.nanoseconds / Self.steepness)
                return present < wanted
                    ? min(present + most, wanted) : max(present - most, wanted)
            }
            line.delay = delay ?? wanted
            line.last = max(time, line.last ?? time)
            state.lines[stream] = line
            return delay ?? wanted
        }
    }

    /// Restarts a stream: its next frame may have any delay.
    func restart(_ stream: MediaTrackID) {
        state.withLock { _ = $0.lines.removeValue(forKey: stream) }
    }

    /// The current delay of a stream; zero if it is unknown.
    func present(_ stream: MediaTrackID) -> MediaTime {
        state.withLock { $0.lines[stream]?.delay ?? .zero }
    }

    /// When the mix plays sound; `nil` if it does not.
    var soundTime: MediaTime? { state.withLock { $0.sound } }

    /// Sets when the mix plays sound; `nil` when it stops.
    ///
    /// - Returns: The earliest time at which the user's pictures are shown; zero if there are none.
    @discardableResult
    func mixes(at time: MediaTime?, now: MediaTime) -> MediaTime {
        state.withLock { state in
            state.sound = time
            return state.pictures(at: now)
        }
    }
}

extension PlayoutDelay.State {
    /// When recently received pictures should be shown.
    fileprivate func pictures(at now: MediaTime) -> MediaTime {
        lines.reduce(.zero) { latest, entry in
            guard case .video = entry.key, entry.value.arrivals.isRecent(at: now) else {
                return latest
            }
            return max(latest, entry.value.need)
        }
    }

    fileprivate func wanted(for stream: MediaTrackID, at now: MediaTime) -> MediaTime {
        var wanted = max(pictures(at: now), lines[stream]?.need ?? .zero)
        if let sound { return max(wanted, sound) }
        if let audio = lines[.audio], audio.arrivals.isRecent(at: now) {
            wanted = max(wanted, audio.need)
        }
        return wanted
    }
}

/// How long after their capture the frames of a stream were ready to be played in the last seconds.
/// Older frames have a decreasing weight.
struct ArrivalHistogram {
    /// One class for every 5 ms, up to one second; longer times are in the last one.
    private var weights = [Double](repeating: 0, count: 200)
    private var last: MediaTime?
    private static let step: Int64 = 5_000_000
    /// The time after which a frame counts for a third of what it counted.
    private static let memory = 5.0
    private static let few = 3.0

    /// Whether a frame has arrived in the last seconds.
    func isRecent(at now: MediaTime) -> Bool { last.map { now - $0 < .init(seconds: 2) } ?? false }

    /// Records a frame.
    ///
    /// - Parameters:
    ///   - age: The time from its capture until now.
    ///   - now: The current running time.
    mutating func note(_ age: MediaTime, at now: MediaTime) {
        let elapsed = last.map { max(0, (now - $0).seconds) } ?? 0
        let share = 1 / (1 + elapsed / Self.memory)
        if elapsed > 0 { for place in weights.indices { weights[place] *= share } }
        last = now
        let place = Int(min(max(0, age.nanoseconds / Self.step), Int64(weights.count - 1)))
        weights[place] += 1
    }

    /// Returns the time after capture at which this fraction of the frames is ready. A few frames
    /// may always be later than that: the first ones wait for a decoder.
    func time(for share: Double) -> MediaTime {
        let all = weights.reduce(0, +)
        var rest = max(all * (1 - share), min(all / 3, Self.few))
        for place in weights.indices.reversed() {
            rest -= weights[place]
            if rest < 0 { return MediaTime(nanoseconds: Int64(place + 1) * Self.step) }
        }
        return .zero
    }
}
