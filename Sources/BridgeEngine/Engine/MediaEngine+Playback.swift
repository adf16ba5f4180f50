internal import MediaBasics
package import MediaCore

extension MediaEngine {
    /// Lets the program pull the mix of all users in this format, of signed 16-bit samples; the playback sinks get
    /// no audio meanwhile. `nil` ends that.
    package func setPulledAudio(_ format: AudioFormat?) async throws(EngineError) {
        try await enter()
        defer { leave() }
        if pulled.exchange(nil) != nil { remote.audio.mixer.end() }
        guard let format else { return updatePlayback() }
        stopPlayback()
        remote.audio.mixer.begin(
            AudioFormat(.f32le, sampleRate: format.sampleRate, channels: format.channels))
        pulled.withLock { $0 = format }
    }

    /// Returns the next audio of all users, mixed, after ``setPulledAudio(_:)``.
    ///
    /// - Parameter length: In bytes. Rounded down to whole samples.
    /// - Returns: That many bytes; `nil` unless audio is pulled. Thread: any, one call at a time.
    nonisolated package func pullAudio(length: Int) -> [UInt8]? {
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
            format, from: format.sampleCount(in: time(pace.next)), latency: timing.latency)
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
