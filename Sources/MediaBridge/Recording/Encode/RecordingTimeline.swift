internal import Synchronization

/// The recorder's own time: that of the shared clock if the streams are live, otherwise that of the
/// file, minus all pauses. All streams of a recording share it.
final class RecordingTimeline: Sendable {
    enum Placement: Sendable, Equatable {
        case at(MediaTime)
        case drop(DropCause)
    }
    private enum Pausing: Sendable {
        case no
        /// Requested; begins with the next frame of the leading stream.
        case wanted
        case since(MediaTime)
        /// The end is requested; ends with the next frame of the leading stream.
        case ending(since: MediaTime)
    }
    private struct State {
        var isLive: Bool?
        var origin = MediaTime.zero
        /// The wall-clock time of the first frame received, in nanoseconds since 1970.
        var began: Int64 = 0
        /// See ``LiveTiming/wallClockOrigin``; `nil` if no stream has it, or it is implausible.
        var wallOrigin: MediaTime?
        /// Offsets of streams that do not use the same clock as the first stream.
        var offsets: [RecordedStream: MediaTime] = [:]
        var last = MediaTime.zero
        /// Streams that have had a frame.
        var begun: Set<RecordedStream> = []
        var pausing = Pausing.no
        /// In recorder time from which no pause has been subtracted.
        var pauses: [(begin: MediaTime, end: MediaTime)] = []
    }
    private let state = Mutex(State())
    /// The stream whose frames determine when a pause begins and ends.
    private let leader: RecordedStream
    let wallClock: WallClock

    /// How much earlier than the first frame received another stream may begin: one day. No time
    /// may be negative.
    static let lead = MediaTime(nanoseconds: 86_400_000_000_000)

    init(leader: RecordedStream, wallClock: WallClock) {
        self.leader = leader
        self.wallClock = wallClock
    }

    /// Requests a pause; idempotent.
    func pause() {
        state.withLock { state in
            switch state.pausing {
            case .no: state.pausing = .wanted
            case .ending(let begin): state.pausing = .since(begin)
            case .wanted, .since: break
            }
        }
    }

    /// Requests the end of the pause; idempotent.
    func resume() {
        state.withLock { state in
            switch state.pausing {
            case .wanted: state.pausing = .no
            case .since(let begin): state.pausing = .ending(since: begin)
            case .no, .ending: break
            }
        }
    }

    /// Whether a pause was requested.
    var isPaused: Bool {
        state.withLock { state in
            switch state.pausing {
            case .wanted, .since: true
            case .no, .ending: false
            }
        }
    }

    /// Returns the place of a frame in the recorder's time.
    ///
    /// - Parameter time: The running time of the frame in its capture.
    func place(_ time: MediaTime, _ live: LiveTiming?, of stream: RecordedStream) -> Placement {
        state.withLock { state in
            let absolute = common(time, live, of: stream, &state)
            if let origin = live?.wallClockOrigin { state.wallOrigin = plausible(origin) }
            let position = absolute - state.origin + Self.lead
            if stream == leader { movePause(to: position, &state) }
            // If a stream that has begun goes back before zero, its times have restarted; the track
            // handles that.
            guard position >= .zero || state.begun.contains(stream) else { return .drop(.early) }
            state.begun.insert(stream)
            switch state.pausing {
            case .since(let begin) where position >= begin,
                .ending(let begin) where position >= begin:
                return .drop(.paused)
            default: break
            }
            var shift = MediaTime.zero
            for pause in state.pauses where position >= pause.begin {
                guard position >= pause.end else { return .drop(.paused) }
                shift = shift + (pause.end - pause.begin)
            }
            let placed = position - shift
            state.last = max(state.last, placed)
            return .at(placed)
        }
    }

    /// Returns the place of a moment of a stream in the recorder's time; that of a moment in a pause is the
    /// beginning of the pause. `nil` before the first frame.
    func position(of time: MediaTime, _ live: LiveTiming?, of stream: RecordedStream) -> MediaTime?
    {
        state.withLock { state in
            guard state.isLive != nil else { return nil }
            var position = common(time, live, of: stream, &state) - state.origin + Self.lead
            switch state.pausing {
            case .since(let begin), .ending(let begin): position = min(position, begin)
            case .no, .wanted: break
            }
            var shift = MediaTime.zero
            for pause in state.pauses where position >= pause.begin {
                shift = shift + (min(position, pause.end) - pause.begin)
            }
            return position - shift
        }
    }

    /// Returns the time on the clock that all streams of the recording share.
    private func common(
        _ time: MediaTime, _ live: LiveTiming?, of stream: RecordedStream, _ state: inout State
    ) -> MediaTime {
        let own = live.map { $0.clockOrigin + time } ?? time
        guard let isLive = state.isLive else {
            state.isLive = live != nil
            state.origin = own
            state.began = wallClock.now()
            return own
        }
        guard isLive != (live != nil) else { return own }
        if let offset = state.offsets[stream] { return own + offset }
        // A file joins a live recording, or a live stream that of a file: it begins at the current
        // time.
        let now =
            isLive ? MediaTime(SharedClock.now) : state.origin + state.last - Self.lead
        state.offsets[stream] = now - own
        return now
    }

    /// Returns the source's wall-clock time at zero of the shared clock, unless it differs by more
    /// than a minute from this machine's: many cameras do not know the date.
    private func plausible(_ origin: MediaTime) -> MediaTime? {
        let own = wallClock.now() - MediaTime(SharedClock.now).nanoseconds
        return abs(origin.nanoseconds - own) < 60_000_000_000 ? origin : nil
    }

    /// Returns when a frame was captured, by the source's clock if that is known, otherwise by the
    /// present setting of this machine's wall clock, in nanoseconds since 1970. Streams that are not live count as played from the arrival of their first frame on.
    ///
    /// - Parameter placed: The frame's place in the recorder's time.
    func wallTime(of placed: MediaTime) -> Int64 {
        let (isLive, origin, began, pauses, wallOrigin) = state.withLock {
            ($0.isLive == true, $0.origin, $0.began, $0.pauses, $0.wallOrigin)
        }
        var position = placed
        for pause in pauses where position >= pause.begin {
            position = position + (pause.end - pause.begin)
        }
        let since = position - Self.lead
        guard isLive else { return began + since.nanoseconds }
        if let wallOrigin { return (wallOrigin + origin + since).nanoseconds }
        return wallClock.now() - (MediaTime(SharedClock.now) - (origin + since)).nanoseconds
    }

    private func movePause(to position: MediaTime, _ state: inout State) {
        switch state.pausing {
        case .wanted: state.pausing = .since(position)
        case .ending(let begin):
            state.pauses.append((begin, position))
            state.pausing = .no
        case .no, .since: break
        }
    }
}
