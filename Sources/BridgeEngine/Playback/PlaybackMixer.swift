internal import MediaCore
internal import Synchronization

/// Mixes the users of a channel for playback, in blocks of 10 ms. Thread: any.
final class PlaybackMixer: Sendable {
    private struct State {
        var format = AudioFormat(.f32le, sampleRate: 48000, channels: 2)
        var timing = JitterBuffer.Timing.demand
        /// The time from capture to playing for audio that is not delayed.
        var latency = MediaTime.zero
        /// The jitter of each user's audio, if the channel measures it.
        var jitter: [UserID: MediaTime] = [:]
        var limiter = PeakLimiter(sampleRate: 48000, channels: 2)
        var lines: [UserID: RemotePlayback] = [:]
        /// The lines of users that have left, until all of their queued audio is played.
        var tails: [RemotePlayback] = []
        /// Samples that are mixed and not pulled yet.
        var rest: [Float] = []
        /// The position of the next block's first sample.
        var next = 0
        /// The sum over all closed lines.
        var past = JitterBufferCounts()
        var counts = EngineStatistics.Playback()
        var failing: Set<UserID> = []

        /// Closes a line and keeps its counts.
        mutating func end(_ line: RemotePlayback) { past = past + line.close() }

        mutating func endAll() {
            for line in Array(lines.values) + tails { end(line) }
            (lines, tails, rest) = ([:], [], [])
        }
    }
    private let state = Mutex(State())
    /// The number of consumers of the mix: the sinks' playback, or a program that pulls.
    private let listeners = Atomic<Int>(0)
    private let backend: any MediaBackend
    private let events: EventHub<EngineEvent>
    private let configuration: JitterBufferConfiguration

    init(
        _ backend: any MediaBackend, _ events: EventHub<EngineEvent>,
        _ configuration: JitterBufferConfiguration
    ) {
        self.backend = backend
        self.events = events
        self.configuration = configuration
    }

    /// Starts to collect audio for the mix.
    ///
    /// - Parameters:
    ///   - next: The position of the first block if blocks are mixed by the clock; `nil` if they are
    ///     mixed on demand.
    ///   - latency: The time from capture to playing for audio that arrives in time.
    func begin(_ format: AudioFormat, from next: Int? = nil, latency: MediaTime = .zero) {
        state.withLock { state in
            state.endAll()
            state.format = format
            state.timing = next == nil ? .demand : .clock
            state.latency = latency
            state.next = next ?? 0
            state.limiter = PeakLimiter(
                sampleRate: format.sampleRate, channels: format.channels)
        }
        listeners.add(1, ordering: .releasing)
    }

    /// Ends one consumer's use. Audio is no longer collected when the last one ends.
    func end() {
        guard listeners.subtract(1, ordering: .releasing).newValue == 0 else { return }
        clear()
    }

    /// Whether the mix has a consumer.
    var hasListeners: Bool { listeners.load(ordering: .acquiring) > 0 }

    /// Queues a user's audio frame, timestamped in the engine's running time.
    ///
    /// - Parameter delay: Keeps the sound in step with the user's pictures.
    func receive(_ frame: AudioFrame, from user: UserID, delay: PlayoutDelay) {
        guard hasListeners else { return }
        let (line, next, hasFailed) = line(of: user, delay)
        do {
            // The line may be closed meanwhile; its samples count as abandoned then.
            let lost = try line.add(frame, now: next)
            guard hasFailed || lost > 0 else { return }
            state.withLock { state in
                state.failing.remove(user)
                state.past.received += lost
                state.past.droppedAbandoned += lost
            }
        } catch {
            // Only the first failure in a row is reported.
            let isNew = state.withLock { state in
                state.counts.failedFrames += 1
                return state.failing.insert(user).inserted
            }
            if isNew {
                events.post(
                    .playbackFailed(
                        EngineError(
                            .sinkFailed, message: "the audio of \(user) cannot be mixed",
                            underlying: error)))
            }
        }
    }

    /// Ends a user's line: its queued audio is still played.
    func forget(_ user: UserID) {
        state.withLock { state in
            guard let line = state.lines.removeValue(forKey: user) else { return }
            state.tails.append(line)
            // Bounds the number of tails if the mix is not consumed.
            if state.tails.count > Self.mostTails { state.end(state.tails.removeFirst()) }
        }
    }

    private static let mostTails = 32

    /// Closes all lines.
    func clear() { state.withLock { $0.endAll() } }

    /// Sets the expected jitter of each user's audio.
    func expect(jitter: [UserID: MediaTime]) {
        let lines = state.withLock { state in
            state.jitter = jitter
            return state.lines
        }
        for (user, line) in lines { line.expect(jitter: jitter[user] ?? .zero) }
    }

    private func line(
        of user: UserID, _ delay: PlayoutDelay
    ) -> (RemotePlayback, next: Int, hasFailed: Bool) {
        let known = state.withLock { state in
            state.lines[user].map { ($0, state.next, state.failing.contains(user)) }
        }
        if let known { return known }
        let (format, timing, latency, jitter) = state.withLock {
            ($0.format, $0.timing, $0.latency, $0.jitter[user])
        }
        let fresh = RemotePlayback(
            format, backend.makeAudioConverter(),
            JitterBuffer(
                sampleRate: format.sampleRate, channels: format.channels, timing: timing,
                configuration: configuration),
            delay, latency: latency)
        if let jitter { fresh.expect(jitter: jitter) }
        return state.withLock { state in
            let line = state.lines[user] ?? fresh
            state.lines[user] = line
            return (line, state.next, state.failing.contains(user))
        }
    }

    // MARK: Blocks

    /// The duration of a block.
    static let length = MediaTime(nanoseconds: 10_000_000)

    /// The time from capture to mixing, for audio that arrives in time and is mixed by the clock.
    var delay: MediaTime {
        MediaTime(
            max(.zero, min(configuration.targetDelay, configuration.maximumDelay)))
    }

    /// Mixes the next 10 ms; silence if no audio is queued.
    ///
    /// - Parameter place: The position of the block's first sample; `nil` for right after the
    ///   previous block.
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

    /// Passes the next samples of the mix to `body` as interleaved 16-bit samples, each with its
    /// index.
    ///
    /// - Parameter count: The number of samples over all channels.
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

    /// Mixes the 10 ms from `time` on for sinks. Audio that arrives in time stays in sync with its
    /// video.
    func frame(at time: MediaTime, timing: LiveTiming) -> AudioFrame? {
        var format = state.withLock { $0.format }
        let samples = block(at: format.sampleCount(in: time))
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

    /// Converts a sample to a 16-bit integer.
    ///
    /// - Parameter value: From -1 to 1; values outside are clipped.
    private static func rounded(_ value: Float) -> Int16 {
        Int16(max(-32768, min(32767, (value * 32768).rounded())))
    }

    // MARK: Counts

    /// Returns the counts of a user's audio; `nil` if the user has no line.
    func statistics(of user: UserID) -> (counts: JitterBufferCounts, wait: MediaTime)? {
        state.withLock { $0.lines[user] }?.state
    }

    /// The sum over all users, including users that have left.
    var counts: EngineStatistics.Playback {
        state.withLock { state in
            var playback = state.counts
            playback.jitterBuffer = (Array(state.lines.values) + state.tails)
                .reduce(state.past) { $0 + $1.state.counts }
            return playback
        }
    }
}

/// A frame or unit that is played at a time.
protocol PlayedFrame {
    var runningTime: MediaTime? { get set }
    var liveTiming: LiveTiming? { get set }
}

extension VideoFrame: PlayedFrame {}
extension EncodedVideoFrame: PlayedFrame {}
extension AudioFrame: PlayedFrame {}
extension EncodedAudioFrame: PlayedFrame {}

extension PlayedFrame {
    /// Converts a live frame's running time from the sender's to the receiver's. Both use the same
    /// clock.
    ///
    /// - Returns: The difference between the two; zero for other frames.
    @discardableResult
    mutating func convertTime(to clock: EngineClock) -> MediaTime {
        guard let live = liveTiming else { return .zero }
        let shift = live.clockOrigin - clock.origin
        runningTime = runningTime.map { $0 + shift }
        liveTiming?.clockOrigin = clock.origin
        return shift
    }
}

// MARK: Pace

/// Computes which blocks of 10 ms are due, numbered from running time zero. A late timer gets
/// several blocks at once. Thread: any.
final class PlaybackPace: Sendable {
    private let clock: EngineClock
    private let made: Mutex<Int64>
    private static let length = PlaybackMixer.length.nanoseconds
    /// The maximum number of blocks returned at once, so that a machine that slept does not catch
    /// up on everything.
    private static let most: Int64 = 100

    init(_ clock: EngineClock) {
        self.clock = clock
        made = Mutex(clock.now.nanoseconds / Self.length)
    }

    /// The number of the next block.
    var next: Int64 { made.withLock { $0 } }

    /// Returns the blocks that have become due since the previous call.
    func dueBlocks() -> Range<Int64> {
        let now = clock.now.nanoseconds / Self.length
        return made.withLock { made in
            defer { made = max(made, now) }
            return max(made, now - Self.most)..<max(made, now)
        }
    }
}
