internal import MediaCore
internal import Synchronization

/// What an engine hears of the others in its channel: to the sinks of each, and into the mix. Thread: any.
final class RemoteAudio: Sendable {
    /// One user's sound.
    private final class Line: Sendable {
        let stream = AudioStream()
        let meter = AudioMeter()
        let level = LevelMeter()
        let isFirst = Atomic<Bool>(true)
    }
    private struct State {
        var lines: [UserID: Line] = [:]
        var muted: Set<UserID> = []
        var areAllMuted = false
    }
    private let state = Mutex(State())
    private let clock: EngineClock
    private let events: EventHub
    let mixer: PlaybackMixer

    init(
        clock: EngineClock, backend: any MediaBackend, events: EventHub,
        jitterBuffer: JitterBuffer.Configuration
    ) {
        self.clock = clock
        self.events = events
        mixer = PlaybackMixer(backend, events, jitterBuffer)
    }

    private func line(of user: UserID) -> Line {
        state.withLock { state in
            let line = state.lines[user] ?? Line()
            state.lines[user] = line
            return line
        }
    }

    // MARK: Sinks

    func attach(_ feed: AudioFeed, to user: UserID) { line(of: user).stream.attach(feed) }

    func detach(_ feed: AudioFeed, from user: UserID) {
        state.withLock { $0.lines[user] }?.stream.detach(feed)
    }

    func mute(_ isMuted: Bool, _ user: UserID?) {
        state.withLock { state in
            guard let user else { return state.areAllMuted = isMuted }
            if isMuted { state.muted.insert(user) } else { state.muted.remove(user) }
        }
    }

    // MARK: What is heard

    func published(by user: UserID) {
        line(of: user).isFirst.store(true, ordering: .relaxed)
        events.post(.audioPublished(by: user))
    }

    func unpublished(by user: UserID) {
        mixer.forget(user)
        events.post(.audioUnpublished(by: user))
    }

    func receive(_ frame: consuming AudioFrame, from user: UserID) {
        let line = line(of: user)
        var frame = frame
        if let live = frame.liveTiming {
            // The sender's running time becomes the receiver's: the clock is the same.
            frame.runningTime = frame.runningTime.map { $0 + live.clockOrigin - clock.origin }
            frame.liveTiming?.clockOrigin = clock.origin
        }
        line.meter.note(frame)
        if line.isFirst.load(ordering: .relaxed),
            line.isFirst.exchange(false, ordering: .relaxed)
        {
            events.post(.firstRemoteAudio(user, frame.format))
        }
        let isMuted = state.withLock { $0.areAllMuted || $0.muted.contains(user) }
        guard !isMuted else { return }
        line.level.note(frame)
        mixer.receive(frame, from: user)
        line.stream.consume(frame)
    }

    /// A user is gone; his sinks wait for his return.
    func forget(_ user: UserID) {
        mixer.forget(user)
        state.withLock { state in
            if state.lines[user]?.stream.isIdle == true { state.lines[user] = nil }
        }
    }

    /// Nobody is there any more.
    func clear() {
        mixer.clear()
        state.withLock { state in state.lines = state.lines.filter { !$1.stream.isIdle } }
    }

    var statistics: [UserID: EngineStatistics.RemoteAudio] {
        var all: [UserID: EngineStatistics.RemoteAudio] = [:]
        for (user, line) in state.withLock({ $0.lines }) {
            let reading = line.meter.now
            guard reading.frames > 0 else { continue }
            let played = mixer.statistics(of: user)
            all[user] = EngineStatistics.RemoteAudio(
                received: reading.frames, samples: reading.samples, format: reading.format,
                level: line.level.take(), jitterBuffer: played?.counts, wait: played?.wait.duration)
        }
        return all
    }
}
