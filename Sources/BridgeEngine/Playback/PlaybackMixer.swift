internal import MediaCore
internal import Synchronization

/// Mixes the users of a channel for playback, in blocks of 10 ms. Thread: any.
final class PlaybackMixer: Sendable {
    private struct State {
        var format = AudioFormat(.f32le, sampleRate: 48000, channels: 2)
        var timing = JitterBuffer.Timing.demand
        var limiter = PeakLimiter(sampleRate: 48000, channels: 2)
        var lines: [UserID: RemotePlayback] = [:]
        /// Of users who are gone, until the last of what they said is played.
        var tails: [RemotePlayback] = []
        /// Mixed, and not pulled yet.
        var rest: [Float] = []
        /// The place of the next block's first sample.
        var next = 0
        /// Of lines that are no more.
        var past = JitterBuffer.Counts()
        var counts = EngineStatistics.Playback()
        var failing: Set<UserID> = []

        /// What became of a line's sound counts on.
        mutating func end(_ line: RemotePlayback) { past = past + line.close() }

        mutating func count(abandoned samples: Int) {
            past.received += samples
            past.dropped.abandoned += samples
        }

        mutating func endAll() {
            for line in Array(lines.values) + tails { end(line) }
            (lines, tails, rest) = ([:], [], [])
        }
    }
    private let state = Mutex(State())
    /// Somebody listens: a sink, or who pulls.
    private let listeners = Atomic<Int>(0)
    private let backend: any MediaBackend
    private let events: EventHub
    private let configuration: JitterBuffer.Configuration

    init(
        _ backend: any MediaBackend, _ events: EventHub, _ configuration: JitterBuffer.Configuration
    ) {
        self.backend = backend
        self.events = events
        self.configuration = configuration
    }

    /// Begins to collect what is to be mixed.
    ///
    /// - Parameter next: By the clock, the place of the first block; `nil` where blocks are made on demand.
    func begin(_ format: AudioFormat, from next: Int? = nil) {
        state.withLock { state in
            state.endAll()
            state.format = format
            state.timing = next == nil ? .demand : .clock
            state.next = next ?? 0
            state.limiter = PeakLimiter(
                sampleRate: format.sampleRate, channels: format.channels)
        }
        listeners.add(1, ordering: .releasing)
    }

    /// Nobody listens any more.
    func end() {
        guard listeners.subtract(1, ordering: .releasing).newValue == 0 else { return }
        clear()
    }

    /// A user's sound, in the engine's time.
    func receive(_ frame: AudioFrame, from user: UserID) {
        guard listeners.load(ordering: .acquiring) > 0 else { return }
        let (line, next) = line(of: user)
        do {
            // A line may end meanwhile.
            let lost = try line.add(frame, now: next)
            state.withLock { state in
                state.failing.remove(user)
                state.count(abandoned: lost)
            }
        } catch {
            // The first of a row is told.
            let isNew = state.withLock { state in
                state.counts.failedFrames += 1
                return state.failing.insert(user).inserted
            }
            if isNew {
                events.post(
                    .playbackFailed(
                        EngineError(
                            .rendererFailed, message: "the sound of \(user) cannot be mixed",
                            underlying: error)))
            }
        }
    }

    /// A user is gone: what waits of him is still played.
    func forget(_ user: UserID) {
        state.withLock { state in
            guard let line = state.lines.removeValue(forKey: user) else { return }
            state.tails.append(line)
            // Where nobody takes what is mixed, tails do not pile up.
            if state.tails.count > Self.mostTails { state.end(state.tails.removeFirst()) }
        }
    }

    private static let mostTails = 32

    /// Nobody is there any more.
    func clear() { state.withLock { $0.endAll() } }

    private func line(of user: UserID) -> (RemotePlayback, next: Int) {
        let (known, format, timing) = state.withLock { state in
            (state.lines[user].map { ($0, state.next) }, state.format, state.timing)
        }
        if let known { return known }
        let fresh = RemotePlayback(
            format, backend.makeAudioConverter(),
            JitterBuffer(
                sampleRate: format.sampleRate, channels: format.channels, timing: timing,
                configuration: configuration))
        return state.withLock { state in
            let line = state.lines[user] ?? fresh
            state.lines[user] = line
            return (line, state.next)
        }
    }

    // MARK: Blocks

    /// How long blocks are.
    static let length = MediaTime(nanoseconds: 10_000_000)

    /// How long after its capture sound is mixed by the clock, where it is in time.
    var delay: MediaTime {
        MediaTime(
            max(.zero, min(configuration.targetDelay, configuration.maximumDelay)))
    }

    /// The next 10 ms; silence where nothing is there.
    ///
    /// - Parameter place: Of its first sample; `nil` for right behind the block before.
    private func block(at place: Int? = nil) -> [Float] {
        let (lines, format, start) = state.withLock { state in
            if let place { state.next = place }
            return (Array(state.lines.values) + state.tails, state.format, state.next)
        }
        let count = format.sampleRate / 100
        var mix = [Float](repeating: 0, count: count * format.channels)
        var isSilent = true
        for line in lines where line.take(at: start, into: &mix) { isSilent = false }
        state.withLock { state in
            state.limiter.limit(&mix)
            state.next = start + count
            state.counts.mixedSamples += count
            if isSilent { state.counts.silentSamples += count }
            let played = state.tails.filter(\.isEmpty)
            state.tails.removeAll { tail in played.contains { $0 === tail } }
            for tail in played { state.end(tail) }
        }
        return mix
    }

    /// The next samples of the mix as 16-bit ones, interleaved.
    ///
    /// - Parameter count: Samples of all channels together.
    func pull(_ count: Int, _ body: (Int, Int16) -> Void) {
        var rest = state.withLock { state in
            defer { state.rest = [] }
            return state.rest
        }
        while rest.count < count { rest += block() }
        for index in 0..<count { body(index, Self.rounded(rest[index])) }
        let left = Array(rest.dropFirst(count))
        state.withLock { $0.rest = left }
    }

    /// The 10 ms from a moment on for sinks: what is mixed in time stays in step with its pictures.
    func frame(at time: MediaTime, timing: LiveTiming) -> AudioFrame? {
        var format = state.withLock { $0.format }
        let samples = block(at: format.samples(in: time))
        format.sampleFormat = .s16le
        guard
            var frame = try? AudioFrame(
                silence: format, sampleCount: samples.count / format.channels, runningTime: time)
        else { return nil }
        frame.liveTiming = timing
        try? frame.withMutableSamples(as: Int16.self) { span in
            for index in span.indices { span[index] = Self.rounded(samples[index]) }
        }
        return frame
    }

    /// - Parameter value: From -1 to 1.
    private static func rounded(_ value: Float) -> Int16 {
        Int16(max(-32768, min(32767, (value * 32768).rounded())))
    }

    // MARK: Counts

    /// What became of a user's sound, while he is there.
    func statistics(of user: UserID) -> (counts: JitterBuffer.Counts, wait: MediaTime)? {
        state.withLock { $0.lines[user] }?.state
    }

    /// Of all users, those who are gone included.
    var counts: EngineStatistics.Playback {
        state.withLock { state in
            var playback = state.counts
            playback.jitterBuffer = (Array(state.lines.values) + state.tails)
                .reduce(state.past) { $0 + $1.state.counts }
            return playback
        }
    }
}
