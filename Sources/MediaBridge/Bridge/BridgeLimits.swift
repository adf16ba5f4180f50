internal import Synchronization

/// The limits at which a bridge ends by itself.
final class BridgeLimits: Sendable {
    private struct State {
        var frames = 0
        /// The stream whose frames are counted: the first that brought one.
        var counted: String?
        var first: MediaTime?
        /// The time at which the frame limit will be reached, as far as it is known.
        var end: MediaTime?
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

    /// Decides whether a video frame with presentation time `time` and with `duration` is within
    /// the limits. The frames of one stream count; those of the others end at its time.
    func admitFrame(of stream: String, at time: MediaTime, for duration: MediaTime?) -> Verdict {
        guard frameLimit != nil || durationLimit != nil else { return Verdict() }
        return state.withLock { state in
            guard !state.isReached else { return Verdict(passes: false) }
            let first = state.first ?? time
            state.first = first
            if let durationLimit, time - first >= durationLimit {
                state.isReached = true
                return Verdict(passes: false, end: .duration)
            }
            let counted = state.counted ?? stream
            state.counted = counted
            guard counted == stream else {
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
            state.isReached = true
            return Verdict(end: .frames)
        }
    }

    /// Decides whether any other sample with presentation time `time` is within the limits. Audio
    /// may be a little ahead of video, so it ends the bridge only if there is no video.
    func admitSample(at time: MediaTime) -> Verdict {
        guard frameLimit != nil || durationLimit != nil else { return Verdict() }
        return state.withLock { state in
            guard !state.isReached else { return Verdict(passes: false) }
            let first = state.first ?? time
            state.first = first
            if let end = state.end, time >= end { return Verdict(passes: false) }
            guard let durationLimit, time - first >= durationLimit else { return Verdict() }
            guard state.frames == 0 else { return Verdict(passes: false) }
            state.isReached = true
            return Verdict(passes: false, end: .duration)
        }
    }
}
