internal import Synchronization

/// The limits at which a bridge ends by itself.
///
/// At a limit the other streams of files go on until they have reached its time, because a file's
/// sound may be far behind its pictures. Those of live captures do not: all of them are at the
/// present.
final class BridgeLimits: Sendable {
    fileprivate struct State {
        var frames = 0
        /// The stream whose frames are counted: the first of the plan that has brought one.
        var counted: String?
        var first: MediaTime?
        /// The time at which the limit is reached, if it is known.
        var end: MediaTime?
        /// The limit that was reached.
        var reason: BridgeReport.End?
        /// Whether every stream has reached the limit.
        var isOver = false
        /// Each stream, in the order of the plan, and whether a limit waits for it.
        var streams: [(name: String, isAwaited: @Sendable () -> Bool)] = []
        /// The time that each stream has reached.
        var reached: [String: MediaTime] = [:]
        /// The streams that have not reached the limit yet.
        var awaited: Set<String> = []
        /// What ``reached`` was at the last check of a stall.
        var checked: [String: MediaTime]?
    }
    private let state = Mutex(State())
    private let frameLimit: Int?
    private let durationLimit: MediaTime?

    struct Verdict {
        /// Whether the frame is within the limits.
        var passes = true
        /// Whether nothing that follows of this stream is within the limits.
        var isLast = false
        /// Set on the frame that completes the run: once it has passed, the bridge ends.
        var end: BridgeReport.End?

        static let refused = Verdict(passes: false)
    }

    init(frames: Int?, duration: Duration?) {
        frameLimit = frames
        durationLimit = duration.map { MediaTime($0) }
    }

    var isLimited: Bool { frameLimit != nil || durationLimit != nil }

    /// The media time from the first frame to `end`, which for a limit of the duration is at least
    /// that duration; `nil` before the first frame.
    func span(to end: MediaTime) -> MediaTime? {
        state.withLock { state in
            let least = state.reason == .duration ? durationLimit : nil
            return state.first.map { max(end - $0, least ?? .zero) }
        }
    }

    /// Adds the next stream of the plan.
    ///
    /// - Parameter isAwaited: Returns whether a limit that is reached now has to wait for it.
    func add(_ stream: String, isAwaited: @escaping @Sendable () -> Bool) {
        state.withLock { $0.streams.append((stream, isAwaited)) }
    }

    /// Decides whether a frame or sample with presentation time `time` and with `duration` is within
    /// the limits. The pictures of one stream count; those of the others end at its time. Audio may be
    /// a little ahead of video, so it ends the bridge only if there is no video.
    func admit(
        _ stream: String, at time: MediaTime, for duration: MediaTime?, isPicture: Bool
    ) -> Verdict {
        guard isLimited else { return Verdict() }
        return state.withLock { state in
            if let verdict = state.verdict(on: stream, at: time, for: duration) { return verdict }
            let first = state.first ?? time
            state.first = first
            if !isPicture, let end = state.end, time >= end { return .refused }
            if let durationLimit, time - first >= durationLimit {
                guard isPicture || state.frames == 0 else { return .refused }
                return state.reach(.duration, at: first + durationLimit, by: stream, passing: false)
            }
            guard isPicture else { return Verdict() }
            guard state.counts(stream) else {
                return Verdict(passes: state.end.map { time < $0 } ?? true)
            }
            state.frames += 1
            guard let frameLimit else { return Verdict() }
            if let duration {
                let rest = Int64(clamping: frameLimit - state.frames + 1)
                let (span, overflow) = duration.nanoseconds.multipliedReportingOverflow(by: rest)
                state.end = overflow ? nil : time + MediaTime(nanoseconds: span)
            }
            guard state.frames >= frameLimit else { return Verdict() }
            return state.reach(.frames, at: state.end ?? time, by: stream, passing: true)
        }
    }

    /// Notes that a stream has ended.
    ///
    /// - Returns: The limit, if it had been reached and waited for this stream only.
    func ended(_ stream: String) -> BridgeReport.End? {
        state.withLock { state in
            guard state.awaited.remove(stream) != nil else { return nil }
            return state.endIfComplete()
        }
    }

    /// Reaches the limit of the duration by a clock that shows the running time `time`, for live
    /// captures that give nothing.
    ///
    /// - Returns: The limit, if the run is to end now.
    func reachedByClock(_ time: MediaTime) -> BridgeReport.End? {
        guard let durationLimit else { return nil }
        return state.withLock { state in
            guard let first = state.first, time - first >= durationLimit else { return nil }
            state.reason = state.reason ?? .duration
            state.awaited = []
            return state.endIfComplete()
        }
    }

    /// Gives up the streams that a limit waits for if none of them has moved since the last call.
    ///
    /// - Returns: The limit, if the run is to end now.
    func giveUpIfNothingMoved() -> BridgeReport.End? {
        state.withLock { state in
            guard state.reason != nil, !state.isOver else { return nil }
            let reached = state.reached.filter { state.awaited.contains($0.key) }
            defer { state.checked = reached }
            guard state.checked == reached else { return nil }
            state.awaited = []
            return state.endIfComplete()
        }
    }
}

extension BridgeLimits.State {
    /// Returns whether the frame that a stream brings counts. The count begins again if it was of a
    /// later stream of the plan.
    fileprivate mutating func counts(_ stream: String) -> Bool {
        if counted == stream { return true }
        let first = streams.first { $0.name == stream || $0.name == counted }
        guard counted == nil || first?.name == stream else { return false }
        (counted, frames) = (stream, 0)
        return true
    }

    /// Returns the verdict on a sample of a limit that has been reached; `nil` if none has.
    fileprivate mutating func verdict(
        on stream: String, at time: MediaTime, for duration: MediaTime?
    ) -> BridgeLimits.Verdict? {
        let latest = time + (duration ?? .zero)
        reached[stream] = max(latest, reached[stream] ?? latest)
        guard reason != nil, let end else { return nil }
        guard awaited.contains(stream) else { return .refused }
        var verdict = BridgeLimits.Verdict(passes: time < end)
        guard latest >= end else { return verdict }
        awaited.remove(stream)
        verdict.end = endIfComplete()
        verdict.isLast = verdict.end == nil
        return verdict
    }

    /// Notes that a stream has reached a limit.
    fileprivate mutating func reach(
        _ limit: BridgeReport.End, at time: MediaTime, by stream: String, passing: Bool
    ) -> BridgeLimits.Verdict {
        (reason, end) = (limit, time)
        for (name, isAwaited) in streams where name != stream && isAwaited() {
            if reached[name].map({ $0 < time }) ?? true { awaited.insert(name) }
        }
        let complete = endIfComplete()
        return BridgeLimits.Verdict(passes: passing, isLast: complete == nil, end: complete)
    }

    /// Returns the limit once no stream is awaited.
    fileprivate mutating func endIfComplete() -> BridgeReport.End? {
        guard !isOver, awaited.isEmpty else { return nil }
        isOver = true
        return reason
    }
}
