internal import Synchronization

/// Where a bridge ends by itself.
final class BridgeLimits: Sendable {
    private struct State {
        var frames = 0
        var first: MediaTime?
        /// Where the frame limit will lie in time, as far as it can be told.
        var soundEnd: MediaTime?
        var isReached = false
    }
    private let state = Mutex(State())
    private let frameLimit: Int?
    private let durationLimit: MediaTime?

    struct Verdict {
        /// Whether the frame is within the limits.
        var passes = true
        /// Set on the frame that reaches a limit: once it has passed, the bridge ends.
        var end: BridgeReport.End?
    }

    init(frames: Int?, duration: Duration?) {
        frameLimit = frames
        durationLimit = duration.map { MediaTime($0) }
    }

    /// Whether a frame of video that is due at `time`, and stays for `duration`, is within the limits.
    func admitFrame(at time: MediaTime, for duration: MediaTime?) -> Verdict {
        guard frameLimit != nil || durationLimit != nil else { return Verdict() }
        return state.withLock { state in
            guard !state.isReached else { return Verdict(passes: false) }
            let first = state.first ?? time
            state.first = first
            if let durationLimit, time - first >= durationLimit {
                state.isReached = true
                return Verdict(passes: false, end: .duration)
            }
            state.frames += 1
            guard let frameLimit else { return Verdict() }
            if let duration {
                let rest = Int64(clamping: frameLimit - state.frames + 1)
                let (span, overflow) = duration.nanoseconds.multipliedReportingOverflow(by: rest)
                state.soundEnd = overflow ? nil : time + MediaTime(nanoseconds: span)
            }
            guard state.frames >= frameLimit else { return Verdict() }
            state.isReached = true
            return Verdict(end: .frames)
        }
    }

    /// Whether a sample of anything else that is due at `time` is within the limits. Sound may run a
    /// little ahead of the pictures, so it ends the bridge only where there are none.
    func admitSample(at time: MediaTime) -> Verdict {
        guard frameLimit != nil || durationLimit != nil else { return Verdict() }
        return state.withLock { state in
            guard !state.isReached else { return Verdict(passes: false) }
            let first = state.first ?? time
            state.first = first
            if let soundEnd = state.soundEnd, time >= soundEnd { return Verdict(passes: false) }
            guard let durationLimit, time - first >= durationLimit else { return Verdict() }
            guard state.frames == 0 else { return Verdict(passes: false) }
            state.isReached = true
            return Verdict(passes: false, end: .duration)
        }
    }
}
