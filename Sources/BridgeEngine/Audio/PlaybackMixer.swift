internal import MediaCore
internal import Synchronization

/// Mixes the users of a channel for playback, in blocks of 10 ms. Thread: any.
final class PlaybackMixer: Sendable {
    private struct State {
        var format = AudioFormat(.f32le, sampleRate: 48000, channels: 2)
        var lines: [UserID: PlaybackLine] = [:]
        /// Mixed, and not pulled yet.
        var rest: [Float] = []
        /// When the next block begins.
        var next: MediaTime?
        /// Nobody was heard in the last block.
        var isIdle = true
        var counts = EngineStatistics.Playback()
        var failing: Set<UserID> = []
    }
    private let state = Mutex(State())
    /// Somebody listens: a sink, or who pulls.
    private let listeners = Atomic<Int>(0)
    private let backend: any MediaBackend
    private let events: EventHub

    init(_ backend: any MediaBackend, _ events: EventHub) {
        self.backend = backend
        self.events = events
    }

    /// Begins to collect what is to be mixed.
    func begin(_ format: AudioFormat) {
        state.withLock { state in
            guard state.format != format || listeners.load(ordering: .relaxed) == 0 else { return }
            state = State()
            state.format = format
        }
        listeners.add(1, ordering: .releasing)
    }

    /// Nobody listens any more.
    func end() {
        guard listeners.subtract(1, ordering: .releasing).newValue == 0 else { return }
        state.withLock { ($0.lines, $0.rest, $0.next, $0.isIdle) = ([:], [], nil, true) }
    }

    var format: AudioFormat { state.withLock { $0.format } }

    /// A user's sound, in the engine's time.
    func receive(_ frame: AudioFrame, from user: UserID) {
        guard listeners.load(ordering: .acquiring) > 0 else { return }
        let line = line(of: user)
        do {
            try line.add(frame)
            _ = state.withLock { $0.failing.remove(user) }
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

    func forget(_ user: UserID) { state.withLock { _ = $0.lines.removeValue(forKey: user) } }

    func clear() {
        state.withLock { ($0.lines, $0.rest, $0.next, $0.isIdle) = ([:], [], nil, true) }
    }

    private func line(of user: UserID) -> PlaybackLine {
        let (known, format) = state.withLock { ($0.lines[user], $0.format) }
        if let known { return known }
        let fresh = PlaybackLine(format, backend.makeAudioConverter())
        return state.withLock { state in
            let line = state.lines[user] ?? fresh
            state.lines[user] = line
            return line
        }
    }

    // MARK: Blocks

    private static let length = MediaTime(nanoseconds: 10_000_000)
    /// How far behind the clock silence is, so that the sound that follows it need not be late.
    private static let delay = MediaTime(nanoseconds: 60_000_000)
    /// All that is further ahead is not waited for.
    private static let farAhead = MediaTime(nanoseconds: 40_000_000)

    /// The next 10 ms; silence where nothing is there.
    ///
    /// - Parameter idle: When silence is due; `nil` where nobody asks.
    private func block(
        idle: MediaTime?
    ) -> (samples: [Float], time: MediaTime?) {
        let (lines, format, next, wasIdle) = state.withLock { state in
            (Array(state.lines.values), state.format, state.next, state.isIdle)
        }
        let count = format.sampleRate / 100
        var mix = [Float](repeating: 0, count: count * format.channels)
        let ready = lines.compactMap { line in line.head.map { (line, $0) } }
        var start = next ?? idle
        if let first = ready.map(\.1).min() {
            let isFar = start.map { first - $0 > Self.farAhead } ?? true
            if wasIdle || isFar { start = max(first, start ?? first) }
        }
        if let start { for (line, _) in ready { line.take(at: start, into: &mix) } }
        state.withLock { state in
            state.isIdle = ready.isEmpty
            state.next = ready.isEmpty && idle == nil ? nil : start.map { $0 + Self.length }
            state.counts.mixedSamples += count
            if ready.isEmpty { state.counts.silentSamples += count }
        }
        return (mix, start)
    }

    /// The next samples of the mix as 16-bit ones, interleaved.
    ///
    /// - Parameter count: Samples of all channels together.
    func pull(_ count: Int, _ body: (Int, Int16) -> Void) {
        var rest = state.withLock { state in
            defer { state.rest = [] }
            return state.rest
        }
        while rest.count < count { rest += block(idle: nil).samples }
        for index in 0..<count { body(index, Self.clipped(rest[index])) }
        let left = Array(rest.dropFirst(count))
        state.withLock { $0.rest = left }
    }

    /// The next 10 ms for sinks, at the time of the sound that is in them: what is mixed stays in step with
    /// its pictures.
    ///
    /// - Parameter now: The engine's time.
    func frame(now: MediaTime, timing: LiveTiming) -> AudioFrame? {
        let (samples, time) = block(idle: now - Self.delay)
        var format = self.format
        format.sampleFormat = .s16le
        guard
            var frame = try? AudioFrame(
                silence: format, sampleCount: samples.count / format.channels, runningTime: time)
        else { return nil }
        frame.liveTiming = timing
        try? frame.withMutableSamples(as: Int16.self) { span in
            for index in span.indices { span[index] = Self.clipped(samples[index]) }
        }
        return frame
    }

    private static func clipped(_ value: Float) -> Int16 {
        Int16(max(-32768, min(32767, (value * 32768).rounded())))
    }

    var counts: EngineStatistics.Playback {
        let (lines, counts) = state.withLock { (Array($0.lines.values), $0.counts) }
        return lines.reduce(into: counts) { sum, line in
            let counts = line.counts
            sum.underruns += counts.underruns
            sum.missingSamples += counts.missingSamples
            sum.discardedSamples += counts.discardedSamples
        }
    }
}
