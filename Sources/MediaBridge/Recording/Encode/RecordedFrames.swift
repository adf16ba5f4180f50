internal import MediaBasics
internal import Synchronization

/// How far one live stream may be ahead of the other before the other's missing media is replaced.
private let maximumLead = MediaTime(nanoseconds: 1_000_000_000)
/// Gaps longer than this are not filled.
private let longestGap = MediaTime(nanoseconds: 10_000_000_000)

/// A jump ahead of the other stream: this one follows if it does not jump itself within ``maximumLead``.
private struct OtherJump {
    private var since: MediaTime?

    /// - Parameter lead: How far the other stream, which has reached `time`, is ahead.
    mutating func isOver(at time: MediaTime, lead: MediaTime) -> Bool {
        since = lead > longestGap ? since ?? time : nil
        return since.map { time - $0 > maximumLead } ?? true
    }
}

/// Whether media is on its way because the process did not run: when it goes on, one stream may deliver what it
/// has before the other does. Nothing may be inserted in place of such media.
private struct Backlog {
    /// How much later than its time the other stream's media usually arrives, from an arbitrary zero.
    private var usual: Duration?
    private var last: Duration?
    /// When the media began to be late.
    private var since: Duration?
    private var until: Duration?

    private static let tolerance = Duration.milliseconds(500)
    private static let standstill = Duration.seconds(2)
    private static let longest = Duration.seconds(3)
    private static let moment = Duration.seconds(1)

    /// - Parameter time: The time that the other stream has reached.
    mutating func isExpected(at time: MediaTime, now: Duration) -> Bool {
        let lateness = now - time.duration
        let stood = last.map { now - $0 } ?? .zero
        last = now
        // Clocks differ by less than a hundredth.
        let usual = min(self.usual.map { $0 + stood / 100 } ?? lateness, lateness)
        self.usual = usual
        if lateness - usual > Self.tolerance {
            let since = self.since ?? now
            self.since = since
            // It stays late: its latency has grown.
            if now - since > Self.longest { (self.usual, self.since) = (lateness, nil) }
        } else {
            since = nil
        }
        if since != nil || stood > Self.standstill { until = now + Self.moment }
        return until.map { now < $0 } ?? false
    }
}

/// Passes video frames to a track. If a live stream pauses while there is audio, its last picture
/// is repeated once a second, so that the muxer need not hold the audio back.
///
/// Thread: any, one writer at a time; ``reach(_:)`` may be called concurrently.
final class RecordedPictures: Sendable {
    private let track: RecordingTrack

    private struct State {
        /// The last frame of a live stream. A replaced frame is released outside of the lock,
        /// because its release may run code of the program.
        var last: VideoFrame?
        var jump = OtherJump()
        var backlog = Backlog()
        var repeated = 0
        /// Number of frames being pushed. They may wait for room; no repetition may overtake them.
        var inFlight = 0
    }
    private let state = Mutex(State())
    private let size: VideoSize?
    private let clock: any Timeline
    private let converter = FrameConverter()

    /// - Parameters:
    ///   - size: See ``VideoEncoding/size``.
    ///   - clock: Measures how long nothing arrives.
    init(_ track: RecordingTrack, _ size: VideoSize?, _ clock: any Timeline) {
        self.track = track
        self.size = size
        self.clock = clock
    }

    private func scaled(_ frame: VideoFrame) throws -> VideoFrame {
        guard let size else { return frame }
        var scaled = try converter.convert(
            frame, to: VideoConversion(size: size, rotation: frame.rotation))
        scaled.rotation = .upright
        return scaled
    }

    var repeated: Int { state.withLock { $0.repeated } }

    /// Stops repeating pictures.
    func end() { _ = state.withLock { $0.last.take() } }

    /// Pushes a frame. Blocks while the encoder is slow.
    ///
    /// - Parameter onPlaced: Called with the frame's time in the recorder's time.
    func consume(_ frame: VideoFrame, onPlaced: (MediaTime) -> Void) -> FrameDisposition {
        switch track.place(frame.runningTime, frame.liveTiming) {
        case .drop(let cause): return .dropped(cause)
        case .at(let placed):
            guard let frame = try? scaled(frame) else { return track.refuse(.badFormat) }
            onPlaced(placed)
            begin(frame, placed)
            defer { finish() }
            return push(frame, placed, isLive: frame.liveTiming != nil)
        }
    }

    /// Notes that a frame is being pushed, so that no repetition overtakes it.
    private func begin(_ frame: VideoFrame, _ placed: MediaTime) {
        var kept = frame
        kept.runningTime = placed
        _ = state.withLock { state -> VideoFrame? in
            state.inFlight += 1
            // The track refuses a frame that goes back, so it is not the one to repeat.
            guard kept.liveTiming != nil, placed >= state.last?.runningTime ?? placed else {
                return nil
            }
            defer { state.last = kept }
            return state.last.take()
        }
    }

    private func finish() { state.withLock { $0.inFlight -= 1 } }

    /// Called when the audio has reached `time`: repeats the last live picture if it is too far
    /// behind.
    func reach(_ time: MediaTime) {
        let now = clock.now
        let frame = state.withLock { state -> VideoFrame? in
            let isInFlight = state.backlog.isExpected(at: time, now: now)
            // A frame being pushed is not missing, and must not be overtaken.
            guard !isInFlight, var frame = state.last, let last = frame.runningTime,
                state.jump.isOver(at: time, lead: time - last), state.inFlight == 0,
                time - last > maximumLead
            else { return nil }
            // If the audio has jumped forward, the video follows it.
            frame.runningTime = time - last > longestGap ? time : last + maximumLead
            frame.duration = nil
            state.last = frame
            state.repeated += 1
            state.inFlight += 1
            return frame
        }
        guard let frame, let place = frame.runningTime else { return }
        defer { finish() }
        _ = push(frame, place, isLive: true)
    }

    private func push(
        _ frame: VideoFrame, _ placed: MediaTime, isLive: Bool
    ) -> FrameDisposition {
        guard let wrapped = try? frame.wrapped() else { return track.refuse(.badFormat) }
        let caps = wrapped.caps
        return track.push(
            wrapped.buffer, caps: caps, placed: placed, duration: frame.duration,
            rotation: frame.rotation, isLive: isLive)
    }
}

// MARK: - Audio

/// Passes audio frames to a track, without gaps and overlaps, so that audio stays in sync.
///
/// Thread: any, one writer at a time; ``reach(_:)`` may be called concurrently.
final class RecordedSound: Sendable {
    private let track: RecordingTrack
    private let state: Mutex<State>

    private struct State {
        var continuity: AudioContinuity
        var isLive = false
        var jump = OtherJump()
        var backlog = Backlog()
        /// Number of frames being pushed. They may wait for room; no silence may overtake them.
        var inFlight = 0
        /// Whether silence is being pushed, and the frames that arrived meanwhile; they follow in
        /// order.
        var isFilling = false
        var following: [AudioFrame] = []
        /// Number of buffers of silence inserted.
        var inserted = 0
    }

    /// The minimum duration of a piece of silence.
    private static let step = MediaTime(nanoseconds: 100_000_000)

    private let clock: any Timeline

    /// - Parameter clock: Measures how long nothing arrives.
    init(_ track: RecordingTrack, _ clock: any Timeline) {
        self.track = track
        self.clock = clock
        state = Mutex(State(continuity: AudioContinuity(longestCorrection: longestGap)))
    }

    /// Counts of what was inserted and cut off.
    var counts: AudioCorrectionCounts { state.withLock { $0.continuity.counts } }

    var inserted: Int { state.withLock { $0.inserted } }

    /// Inserts no silence before the next frame: forgets the time reached.
    func end() { state.withLock { $0.continuity.reset() } }

    /// Pushes a frame. Blocks while the encoder is slow.
    ///
    /// - Parameter onPlaced: Called with the frame's end in the recorder's time.
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
            state.inserted += max(0, frames.count - 1)
            if state.isFilling {
                state.following += frames
                return nil
            }
            state.inFlight += 1
            return frames
        }
        guard let frames else { return .accepted }
        defer { state.withLock { $0.inFlight -= 1 } }
        return push(frames, isLive: frame.liveTiming != nil)
    }

    /// Called when the video has reached `time`: inserts silence if live audio is missing.
    ///
    /// If the video has jumped further ahead than the longest gap that is filled, the audio
    /// continues at the video's time, and the gap stays.
    func reach(_ time: MediaTime) {
        guard track.hasRoom else { return }
        let now = clock.now
        let silence = state.withLock { state -> [AudioFrame] in
            guard !state.backlog.isExpected(at: time, now: now),
                let end = state.continuity.expectedTime,
                state.jump.isOver(at: time, lead: time - end - maximumLead), state.isLive,
                state.inFlight == 0, !state.isFilling, time - end > maximumLead + Self.step
            else { return [] }
            let frames =
                time - end > longestGap + maximumLead
                ? jump(&state, to: time)
                : state.continuity.fill(upTo: time - maximumLead).map { [$0] } ?? []
            state.isFilling = !frames.isEmpty
            state.inserted += frames.count
            return frames
        }
        guard !silence.isEmpty else { return }
        // This never blocks: there was room, and otherwise the oldest buffer is evicted.
        push(silence, mayWait: false)
        while let frames = takeFollowing() {
            push(frames, isLive: frames.contains { $0.liveTiming != nil })
        }
    }

    /// Returns the frames that arrived while silence was pushed; `nil` if there are none.
    private func takeFollowing() -> [AudioFrame]? {
        state.withLock { state in
            defer { state.following = [] }
            state.isFilling = !state.following.isEmpty
            return state.isFilling ? state.following : nil
        }
    }

    /// Returns a short piece of silence that ends at `time`.
    private func jump(_ state: inout State, to time: MediaTime) -> [AudioFrame] {
        guard let format = state.continuity.format,
            let silence = try? AudioFrame(
                silence: format, sampleCount: format.sampleCount(in: Self.step),
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
            guard let wrapped = try? frame.wrapped(), let time = frame.runningTime else {
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
