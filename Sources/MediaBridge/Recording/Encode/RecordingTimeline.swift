internal import Synchronization

/// The recorder's own time: that of the shared clock where the streams are live, that of the file where
/// they are not, less the pauses. Common to all streams of a recording.
final class RecordingTimeline: Sendable {
    enum Placement: Sendable, Equatable {
        case at(MediaTime)
        case drop(DropCause)
    }
    private enum Pausing: Sendable {
        case no
        /// Asked for; begins with the next frame of the leading stream.
        case wanted
        case since(MediaTime)
        /// Its end was asked for; ends with the next frame of the leading stream.
        case ending(since: MediaTime)
    }
    private struct State {
        var isLive: Bool?
        var origin = MediaTime.zero
        /// Of streams that do not run on the clock of the first.
        var offsets: [RecordingKind: MediaTime] = [:]
        var last = MediaTime.zero
        /// Streams that had a frame.
        var begun: Set<RecordingKind> = []
        var pausing = Pausing.no
        /// In recorded time before any pause was taken out.
        var pauses: [(begin: MediaTime, end: MediaTime)] = []
    }
    private let state = Mutex(State())
    /// The stream whose frames say where a pause begins and ends.
    private let leader: RecordingKind

    /// How much earlier than the first frame to be here another stream may begin: a day. Nothing may lie
    /// before zero.
    static let lead = MediaTime(nanoseconds: 86_400_000_000_000)

    init(leader: RecordingKind) { self.leader = leader }

    /// Asks for a pause; idempotent.
    func pause() {
        state.withLock { state in
            switch state.pausing {
            case .no: state.pausing = .wanted
            case .ending(let begin): state.pausing = .since(begin)
            case .wanted, .since: break
            }
        }
    }

    /// Asks for the end of the pause; idempotent.
    func resume() {
        state.withLock { state in
            switch state.pausing {
            case .wanted: state.pausing = .no
            case .since(let begin): state.pausing = .ending(since: begin)
            case .no, .ending: break
            }
        }
    }

    /// Where a frame belongs.
    ///
    /// - Parameter time: In the running time of its capture.
    func place(_ time: MediaTime, _ live: LiveTiming?, of kind: RecordingKind) -> Placement {
        state.withLock { state in
            let absolute = common(time, live, of: kind, &state)
            let position = absolute - state.origin + Self.lead
            if kind == leader { movePause(to: position, &state) }
            // What goes back beyond the beginning later on began anew, and is for the stream to place.
            guard position >= .zero || state.begun.contains(kind) else { return .drop(.early) }
            state.begun.insert(kind)
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

    /// The time on the clock that all streams of the recording share.
    private func common(
        _ time: MediaTime, _ live: LiveTiming?, of kind: RecordingKind, _ state: inout State
    ) -> MediaTime {
        let own = live.map { $0.clockOrigin + time } ?? time
        guard let isLive = state.isLive else {
            state.isLive = live != nil
            state.origin = own
            return own
        }
        guard isLive != (live != nil) else { return own }
        if let offset = state.offsets[kind] { return own + offset }
        // A file joins a live recording, or the other way round: it begins now.
        let now =
            isLive ? MediaTime(SharedClock.now) : state.origin + state.last - Self.lead
        state.offsets[kind] = now - own
        return now
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
