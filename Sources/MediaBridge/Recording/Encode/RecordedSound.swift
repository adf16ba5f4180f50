internal import Synchronization

/// Sound on its way into a recording: without gaps and overlaps, so that it stays where it belongs.
///
/// Thread: any, one writer at a time, beside ``reach(_:)``.
final class RecordedSound: Sendable {
    private let track: RecordingTrack
    private let wrapper = BufferWrapper()
    private let state: Mutex<State>

    private struct State {
        var continuity: AudioContinuity
        var isLive = false
        /// Frames that are being handed over: they may wait for room, and silence must not overtake them.
        var underWay = 0
        /// Whether silence is being handed over, and what came meanwhile: it follows, in its order.
        var isFilling = false
        var following: [AudioFrame] = []
    }

    /// Beyond this a gap stays one.
    private static let longestGap = MediaTime(nanoseconds: 10_000_000_000)
    /// How far pictures may be ahead of live sound before silence takes its place.
    private static let patience = MediaTime(nanoseconds: 1_000_000_000)

    /// Silence comes in pieces no smaller than this.
    private static let step = MediaTime(nanoseconds: 100_000_000)

    init(_ track: RecordingTrack) {
        self.track = track
        var configuration = AudioContinuity.Configuration()
        configuration.longestCorrection = Self.longestGap
        state = Mutex(State(continuity: AudioContinuity(configuration)))
    }

    /// What was inserted and cut.
    var counts: AudioContinuity.Counts { state.withLock { $0.continuity.counts } }

    /// What comes next follows nothing: there is no gap to fill.
    func restart() { state.withLock { $0.continuity.reset() } }

    /// Hands a frame over.
    ///
    /// - Parameter onPlaced: Gets its end in the recorder's time.
    func consume(_ frame: AudioFrame, onPlaced: (MediaTime) -> Void) -> FrameDisposition {
        let placed: MediaTime
        switch track.place(frame.runningTime, frame.liveTiming) {
        case .drop(let cause): return .dropped(cause)
        case .at(let place): placed = place
        }
        onPlaced(placed + frame.duration)
        var own = frame
        own.runningTime = placed
        let frames = state.withLock { state -> [AudioFrame]? in
            state.isLive = frame.liveTiming != nil
            let frames = state.continuity.feed(own).frames
            if state.isFilling {
                state.following += frames
                return nil
            }
            state.underWay += 1
            return frames
        }
        guard let frames else { return .accepted }
        defer { state.withLock { $0.underWay -= 1 } }
        return push(frames, isLive: frame.liveTiming != nil)
    }

    /// Pictures have come so far: live sound that does not come is silence.
    ///
    /// Where they have jumped further than silence is worth, sound goes on with them, and the gap stays.
    func reach(_ time: MediaTime) {
        guard track.hasRoom else { return }
        let silence = state.withLock { state -> [AudioFrame] in
            guard state.isLive, state.underWay == 0, !state.isFilling,
                let end = state.continuity.expectedTime,
                time - end > Self.patience + Self.step
            else { return [] }
            let frames =
                time - end > Self.longestGap + Self.patience
                ? jump(&state, to: time)
                : state.continuity.fill(upTo: time - Self.patience).map { [$0] } ?? []
            state.isFilling = !frames.isEmpty
            return frames
        }
        guard !silence.isEmpty else { return }
        // Waits for nobody: there was room, and else the oldest gives way.
        push(silence, mayWait: false)
        while let frames = takeFollowing() {
            push(frames, isLive: frames.contains { $0.liveTiming != nil })
        }
    }

    /// What came while silence was handed over; `nil` where that is all.
    private func takeFollowing() -> [AudioFrame]? {
        state.withLock { state in
            defer { state.following = [] }
            state.isFilling = !state.following.isEmpty
            return state.isFilling ? state.following : nil
        }
    }

    /// A bit of silence that ends at `time`.
    private func jump(_ state: inout State, to time: MediaTime) -> [AudioFrame] {
        guard let format = state.continuity.format,
            let silence = try? AudioFrame(
                silence: format, sampleCount: format.samples(in: Self.step),
                runningTime: time - Self.step)
        else { return [] }
        return state.continuity.feed(silence).frames
    }

    @discardableResult
    private func push(
        _ frames: [AudioFrame], isLive: Bool = true, mayWait: Bool = true
    ) -> FrameDisposition {
        var result = FrameDisposition.accepted
        for frame in frames {
            guard let wrapped = try? wrapper.wrap(frame), let time = frame.runningTime else {
                result = track.refuse(.badFormat)
                continue
            }
            let caps = wrapped.caps
            result = track.push(
                wrapped.buffer, caps: caps, placed: time, duration: frame.duration, isLive: isLive,
                mayWait: mayWait)
        }
        return result
    }
}
