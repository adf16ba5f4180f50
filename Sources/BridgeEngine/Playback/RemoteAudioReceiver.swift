internal import MediaCore
internal import Synchronization

/// Receives the audio of the other users in the channel and passes it to their sinks and to the
/// mix. Thread: any.
final class RemoteAudioReceiver: Sendable {
    /// One user's audio.
    private final class Line: Sendable {
        let stream = AudioStream()
        let meter = AudioMeter()
        let level = LevelMeter()
        /// Whether no frame has arrived since the audio was published.
        let isFresh = Atomic<Bool>(true)
        let decoder: RemoteAudioDecoder

        init(_ backend: any MediaBackend) { decoder = RemoteAudioDecoder(backend) }

        /// The counts of the user's audio; `nil` if none has arrived.
        var counts: EngineStatistics.RemoteAudio? {
            let reading = meter.now
            guard reading.frames > 0 else { return nil }
            return EngineStatistics.RemoteAudio(
                received: reading.frames, decoding: decoder.balance, sampleCount: reading.samples,
                concealedSamples: decoder.concealedSamples, format: reading.format,
                level: level.take())
        }
    }
    private struct State {
        var lines: [UserID: Line] = [:]
        var muted: Set<UserID> = []
        var areAllMuted = false
        var removed = Departed<UserID, EngineStatistics.RemoteAudio>()

        /// Removes a user's line unless its sinks wait for the user's return.
        mutating func prune(_ user: UserID) {
            guard let line = lines[user], line.stream.isIdle else { return }
            lines[user] = nil
            if let counts = line.counts { removed.add(user, counts) }
        }
    }
    private let state = Mutex(State())
    private let clock: EngineClock
    private let backend: any MediaBackend
    private let events: EventHub<EngineEvent>
    let mixer: PlaybackMixer

    init(
        clock: EngineClock, backend: any MediaBackend, events: EventHub<EngineEvent>,
        jitterBuffer: JitterBufferConfiguration
    ) {
        self.clock = clock
        self.backend = backend
        self.events = events
        mixer = PlaybackMixer(backend, events, jitterBuffer)
    }

    private func line(of user: UserID) -> Line {
        state.withLock { state in
            if let line = state.lines[user] { return line }
            let line = Line(backend)
            state.lines[user] = line
            return line
        }
    }

    // MARK: Sinks

    func attach(_ feed: AudioSinkFeed, to user: UserID) { line(of: user).stream.attach(feed) }

    func detach(_ feed: AudioSinkFeed, from user: UserID) {
        state.withLock { $0.lines[user] }?.stream.detach(feed)
    }

    func mute(_ isMuted: Bool, _ user: UserID?) {
        state.withLock { state in
            guard let user else { return state.areAllMuted = isMuted }
            if isMuted { state.muted.insert(user) } else { state.muted.remove(user) }
        }
    }

    // MARK: Events of the channel

    func published(by user: UserID) {
        let line = line(of: user)
        line.isFresh.store(true, ordering: .relaxed)
        line.decoder.end()
    }

    func muted(by user: UserID) {
        // Muted audio is not lost, so it is not concealed.
        state.withLock { $0.lines[user] }?.decoder.end()
    }

    func unpublished(by user: UserID) { mixer.forget(user) }

    /// - Parameter delay: Keeps the sound in step with the user's pictures.
    func receive(_ frame: consuming AudioFrame, from user: UserID, delay: PlayoutDelay) {
        let line = line(of: user)
        line.meter.note(frame)
        // Frames between units are no gap.
        line.decoder.end()
        let format = line.isFresh.exchange(false, ordering: .relaxed) ? frame.format : nil
        defer { if let format { events.post(.firstAudio(.remote(user), format)) } }
        guard !isMuted(user) else { return }
        pass(frame, of: line, from: user, delay: delay)
    }

    /// Decodes a unit if the audio has a listener.
    ///
    /// - Parameter delay: Keeps the sound in step with the user's pictures.
    func receive(_ unit: EncodedAudioFrame, from user: UserID, delay: PlayoutDelay) {
        let line = line(of: user)
        line.meter.noteUnit()
        let isHeard = !isMuted(user) && (mixer.hasListeners || !line.stream.isIdle)
        // Audio without a listener is not lost, so it is not concealed.
        if !isHeard { line.decoder.end() }
        let (frames, failure) = isHeard ? line.decoder.decode(unit) : ([], nil)
        if let failure {
            events.post(
                .playbackFailed(
                    EngineError(
                        .sinkFailed, message: "the audio of \(user) cannot be decoded",
                        underlying: failure)))
        }
        if !isHeard || !frames.isEmpty, line.isFresh.exchange(false, ordering: .relaxed) {
            let format =
                frames.first?.format
                ?? AudioFormat(
                    .s16le, sampleRate: unit.sampleRate ?? 48000, channels: unit.channels ?? 1)
            events.post(.firstAudio(.remote(user), format))
        }
        for frame in frames {
            line.meter.note(decoded: frame)
            pass(frame, of: line, from: user, delay: delay)
        }
    }

    private func isMuted(_ user: UserID) -> Bool {
        state.withLock { $0.areAllMuted || $0.muted.contains(user) }
    }

    private func pass(
        _ frame: AudioFrame, of line: Line, from user: UserID, delay: PlayoutDelay
    ) {
        var frame = frame
        line.level.note(frame)
        mixer.receive(frame, from: user, delay: delay)
        guard !line.stream.isIdle else { return }
        frame.liveTiming = delay.timing(of: frame, in: .audio, on: clock)
        line.stream.consume(frame)
    }

    /// Ends a user's audio; sinks of the user are kept for its return.
    func forget(_ user: UserID) {
        mixer.forget(user)
        state.withLock { $0.prune(user) }
    }

    /// Ends the audio of all users.
    func clear() {
        mixer.clear()
        state.withLock { state in state.lines.keys.forEach { state.prune($0) } }
    }

    /// The counts of the current users, and of users that have left.
    var statistics:
        (
            present: [UserID: EngineStatistics.RemoteAudio],
            removed: Departed<UserID, EngineStatistics.RemoteAudio>
        )
    {
        let (lines, removed) = state.withLock { ($0.lines, $0.removed) }
        var present = lines.compactMapValues(\.counts)
        for user in present.keys {
            guard let played = mixer.statistics(of: user) else { continue }
            present[user]?.jitterBuffer = played.counts
            present[user]?.wait = played.wait.duration
        }
        return (present, removed)
    }
}

// MARK: Decoding

/// Decodes one user's audio units while the audio has a listener. Thread: any, one unit at a time.
final class RemoteAudioDecoder: Sendable {
    private struct State {
        var decoder: (any AudioDecoder)?
        var codec: AudioCodec?
        /// The counts of earlier decoders.
        var concealed = 0
        var isFailing = false

        mutating func end() {
            concealed += decoder?.concealedSamples ?? 0
            (decoder, codec) = (nil, nil)
        }
    }
    private let state = Mutex(State())
    private let backend: any MediaBackend
    /// Counts the units to decode.
    private let meter = FlowMeter<AudioMedia>()

    init(_ backend: any MediaBackend) { self.backend = backend }

    /// The counts of the units to decode. Decoded units count as delivered.
    var balance: FrameBalance { meter.balance }

    /// Samples, per channel, that replace lost units.
    var concealedSamples: Int {
        state.withLock { $0.concealed + ($0.decoder?.concealedSamples ?? 0) }
    }

    /// Ends the stream: the next unit starts a new one.
    func end() { state.withLock { $0.end() } }

    /// Decodes a unit.
    ///
    /// - Returns: The frames, and the error if this is the first unit in a row that cannot be decoded.
    func decode(
        _ unit: EncodedAudioFrame
    ) -> (frames: [AudioFrame], failure: (any Error)?) {
        meter.offered.noteUnit()
        return state.withLock { state in
            do {
                if state.codec != unit.codec {
                    state.end()
                    // Set first, so that a missing decoder is not looked up again for each unit.
                    state.codec = unit.codec
                    state.isFailing = false
                    state.decoder = try backend.makeAudioDecoder(unit.codec)
                }
                guard let decoder = state.decoder else {
                    meter.drops.note(.undecodable)
                    return ([], nil)
                }
                let frames = try decoder.decode(unit)
                meter.delivered.note()
                state.isFailing = false
                return (frames, nil)
            } catch {
                meter.drops.note(.undecodable)
                defer { state.isFailing = true }
                return ([], state.isFailing ? nil : error)
            }
        }
    }
}
