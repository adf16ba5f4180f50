internal import MediaBasics
internal import MediaCore

extension MediaEngine {
    /// Lets the program pull the mix of all users, in place of the engine's playback to sinks.
    ///
    /// - Parameters:
    ///   - sampleRate: Hz, from 8000 to 48000.
    ///   - channels: One or two.
    /// - Throws: ``EngineError/Code/invalidArgument`` for any other.
    public func enableExternalAudioSink(
        sampleRate: Int, channels: Int
    ) async throws(EngineError) {
        let format = try Self.externalFormat(sampleRate, channels)
        try await enter()
        defer { leave() }
        if audio.pulled != nil { remote.audio.mixer.end() }
        stopPlayback()
        audio.pulled = format
        remote.audio.mixer.begin(Self.mixFormat(format))
        pulls.enable(format)
    }

    /// Ends it; sinks of the playback are played to again.
    public func disableExternalAudioSink() async throws(EngineError) {
        try await enter()
        defer { leave() }
        guard audio.pulled != nil else { return }
        pulls.enable(nil)
        audio.pulled = nil
        remote.audio.mixer.end()
        updatePlayback()
    }

    /// The next sound of all users, mixed: signed 16-bit samples, interleaved. Silence where nothing came,
    /// which is counted (``EngineStatistics/Playback``).
    ///
    /// What comes unevenly is smoothed by a ``JitterBuffer`` for each user
    /// (``Configuration/jitterBuffer``); the mix is made in steps of 10 ms. Pull as much as is played, as
    /// often as it is played: where more comes than that for longer than
    /// ``JitterBuffer/Configuration/maximumDelay``, the oldest is dropped.
    ///
    /// - Parameter length: Bytes: rate / 1000 × 2 × channels × milliseconds. Rounded down to whole samples.
    /// - Returns: So many bytes; `nil` unless ``enableExternalAudioSink(sampleRate:channels:)`` was called.
    ///   Thread: any, one at a time.
    nonisolated public func pullPlaybackAudioFrame(length: Int) -> [UInt8]? {
        guard let format = pulls.format else { return nil }
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

    /// Plays a user's sound no more, or again.
    nonisolated public func muteRemoteAudio(_ isMuted: Bool, forUserID user: UserID) {
        remote.audio.mute(isMuted, user)
    }

    /// Plays nobody's sound, or that of all who are not muted themselves.
    nonisolated public func muteAllRemoteAudio(_ isMuted: Bool) {
        remote.audio.mute(isMuted, nil)
    }

    // MARK: Inside

    private static func mixFormat(_ format: AudioFormat) -> AudioFormat {
        AudioFormat(.f32le, sampleRate: format.sampleRate, channels: format.channels)
    }

    /// Mixes while somebody is there to listen, and nobody pulls.
    func updatePlayback() {
        let isWanted =
            membership != nil && audio.pulled == nil
            && audio.sinks.values.contains { $0.stream == .playback }
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
        mixer.begin(format, from: format.samples(in: time(pace.next)))
        audio.playback = Heartbeat(every: .milliseconds(10), on: playbackQueue) {
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
