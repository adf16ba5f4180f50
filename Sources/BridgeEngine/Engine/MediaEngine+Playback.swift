internal import MediaBasics
internal import MediaCore

extension MediaEngine {
    /// Lets the program pull the mix of all users. The playback sinks get no audio meanwhile.
    ///
    /// - Parameters:
    ///   - sampleRate: In Hz, from 8000 to 48000.
    ///   - channels: One or two.
    /// - Throws: ``EngineError/Code/invalidArgument`` for other values.
    public func enableExternalAudioSink(
        sampleRate: Int, channels: Int
    ) async throws(EngineError) {
        let format = try Self.externalFormat(sampleRate, channels)
        try await enter()
        defer { leave() }
        if pulled.withLock({ $0 }) != nil { remote.audio.mixer.end() }
        stopPlayback()
        remote.audio.mixer.begin(
            AudioFormat(.f32le, sampleRate: sampleRate, channels: channels))
        pulled.withLock { $0 = format }
    }

    /// Disables pulling; the playback sinks get audio again.
    public func disableExternalAudioSink() async throws(EngineError) {
        try await enter()
        defer { leave() }
        guard pulled.exchange(nil) != nil else { return }
        remote.audio.mixer.end()
        updatePlayback()
    }

    /// Returns the next audio of all users, mixed: signed 16-bit samples, interleaved,
    /// little-endian. Missing audio is silence, which is counted (``EngineStatistics/Playback``).
    ///
    /// A ``JitterBuffer`` for each user smooths uneven arrival (``Configuration/jitterBuffer``);
    /// the mix is made in steps of 10 ms. Pull audio at the rate at which it is played. If more
    /// arrives for longer than ``JitterBuffer/Configuration/maximumDelay``, the oldest audio is
    /// dropped.
    ///
    /// - Parameter length: In bytes: rate / 1000 × 2 × channels × milliseconds. Rounded down to
    ///   whole samples.
    /// - Returns: That many bytes; `nil` unless ``enableExternalAudioSink(sampleRate:channels:)``
    ///   was called. Thread: any, one call at a time.
    nonisolated public func pullPlaybackAudioFrame(length: Int) -> [UInt8]? {
        guard let format = pulled.withLock({ $0 }) else { return nil }
        let samples = max(0, length) / format.sampleStride * format.channels
        return [UInt8](unsafeUninitializedCapacity: samples * 2) { bytes, count in
            remote.audio.mixer.pull(samples) { index, sample in
                let value = UInt16(bitPattern: sample)
                bytes.initializeElement(at: index * 2, to: UInt8(truncatingIfNeeded: value))
                bytes.initializeElement(at: index * 2 + 1, to: UInt8(value >> 8))
            }
            count = samples * 2
        }
    }

    /// Mutes or unmutes a user for the mix and for the user's sinks. Thread: any.
    nonisolated public func muteRemoteAudio(_ isMuted: Bool, forUserID user: UserID) {
        remote.audio.mute(isMuted, user)
    }

    /// Mutes all users, or unmutes all users that are not muted individually. Thread: any.
    nonisolated public func muteAllRemoteAudio(_ isMuted: Bool) {
        remote.audio.mute(isMuted, nil)
    }

    // MARK: Internal

    /// Mixes for the playback sinks if there are any and the program does not pull; otherwise stops
    /// mixing.
    func updatePlayback() {
        let isWanted =
            membership != nil && pulled.withLock { $0 } == nil
            && sinks.audio.values.contains { $0.stream == .playback }
        guard isWanted else { return stopPlayback() }
        guard audio.playback == nil else { return }
        let (mixer, mixed, clock) = (remote.audio.mixer, self.mixed, self.clock)
        let format = AudioFormat(.f32le, sampleRate: 48000, channels: 2)
        let (length, delay) = (PlaybackMixer.length, mixer.delay)
        let timing = LiveTiming(
            clockOrigin: clock.origin, latency: max(clock.latency, delay + length))
        let pace = PlaybackPace(clock)
        let time = { @Sendable (block: Int64) in
            MediaTime(nanoseconds: block * length.nanoseconds) - delay
        }
        mixer.begin(
            format, from: format.samples(in: time(pace.next)), latency: timing.latency)
        audio.playback = Heartbeat(
            every: .milliseconds(10), on: playbackQueue, of: clock.timeline
        ) {
            for block in pace.dueBlocks() where time(block) >= .zero {
                guard let frame = mixer.frame(at: time(block), timing: timing) else { continue }
                mixed.consume(frame)
            }
        }
    }

    private func stopPlayback() {
        guard let playback = audio.playback else { return }
        playback.cancel()
        audio.playback = nil
        remote.audio.mixer.end()
    }
}
