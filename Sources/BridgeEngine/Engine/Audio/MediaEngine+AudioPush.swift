public import MediaCore

extension MediaEngine {
    /// Enables pushed audio in place of the audio source: signed 16-bit samples, interleaved.
    ///
    /// - Parameters:
    ///   - sampleRate: In Hz, from 8000 to 48000.
    ///   - channels: One or two.
    /// - Throws: ``EngineError/Code/invalidArgument`` for other values.
    public func enableExternalAudioSource(
        sampleRate: Int, channels: Int
    ) async throws(EngineError) {
        let format = try Self.externalFormat(sampleRate, channels)
        try await enter()
        defer { leave() }
        audio.sourceNumber += 1
        let source = PushAudioSource(format, refused: audioPushes.refused)
        let host = AudioSourceHost(
            source, number: audio.sourceNumber, to: audioTrack, trace: transitions)
        if !holds.isEmpty { try await changeAudio(to: host) }
        audio.external = host
        audio.wantsMicrophone = false
        audioPushes.source = source
        noteAudioEnabled()
    }

    /// Disables pushed audio: the source that was set before is used again; if none was, audio is
    /// turned off.
    ///
    /// - Throws: The reason why that source does not start; there is no audio then.
    public func disableExternalAudioSource() async throws(EngineError) {
        try await enter()
        defer { leave() }
        guard audio.external != nil else { return }
        disableAudioPush()
        let isRunning = audio.running != nil
        await stopAudio()
        guard audio.chosen != nil else { return disableAudioNow() }
        if isRunning { try await startAudio() }
    }

    /// Whether pushed audio is enabled.
    public var isExternalAudioSourceEnabled: Bool { audio.external != nil }

    /// Pushes audio. The samples are copied.
    ///
    /// Timestamps that show a gap or an overlap are trusted: silence is inserted or samples are cut
    /// off, and both are counted (``EngineStatistics/LocalAudio/corrections``). Timestamps that
    /// advance unevenly are taken for the times of the pushes: then the number of samples
    /// determines the time, and timestamps correct it slowly (``AudioContinuity``).
    ///
    /// - Parameters:
    ///   - rawData: Signed 16-bit samples, interleaved; must be valid for all of them during the
    ///     call.
    ///   - samples: The number of samples per channel.
    ///   - timestamp: The capture time of the first sample, on any clock that goes forward,
    ///     preferably ``runningTime``; `nil` for directly after the previous push, or now.
    /// - Returns: The outcome: ``FrameDisposition/notEnabled`` if pushing is not enabled,
    ///   ``FrameDisposition/notStarted`` unless preview or channel runs. Thread: any, one push at a
    ///   time; returns without waiting for the engine.
    @discardableResult
    nonisolated public func pushExternalAudioFrame(
        rawData: UnsafeRawPointer, samples: Int, timestamp: MediaTime?
    ) -> FrameDisposition {
        guard let source = audioPushes.source else { return refuseAudio(.notEnabled) }
        let (count, isTooMuch) = samples.multipliedReportingOverflow(
            by: source.format.sampleStride)
        guard samples > 0, !isTooMuch else { return source.refuse(.badSize) }
        return source.push(UnsafeRawBufferPointer(start: rawData, count: count), time: timestamp)
    }

    /// Pushes audio with a timestamp in seconds; otherwise the same.
    @discardableResult
    nonisolated public func pushExternalAudioFrame(
        rawData: UnsafeRawPointer, samples: Int, timestamp: Double
    ) -> FrameDisposition {
        pushExternalAudioFrame(
            rawData: rawData, samples: samples, timestamp: MediaTime(seconds: timestamp))
    }

    /// Pushes interleaved samples. They are copied.
    ///
    /// - Returns: ``FrameDisposition/badSize`` if the number of samples is zero or not a multiple
    ///   of the number of channels; otherwise as for the raw data.
    @discardableResult
    nonisolated public func pushExternalAudioFrame(
        _ samples: [Int16], timestamp: MediaTime?
    ) -> FrameDisposition {
        guard let source = audioPushes.source else { return refuseAudio(.notEnabled) }
        return samples.withUnsafeBytes { source.push($0, time: timestamp) }
    }

    /// Pushes a frame without copying it.
    ///
    /// - Returns: ``FrameDisposition/badFormat`` for a format other than the one that was enabled.
    @discardableResult
    nonisolated public func pushExternalAudioFrame(_ frame: AudioFrame) -> FrameDisposition {
        audioPushes.source?.push(frame) ?? refuseAudio(.notEnabled)
    }

    nonisolated private func refuseAudio(_ cause: DropCause) -> FrameDisposition {
        audioPushes.refused.note(cause)
        return .dropped(cause)
    }

    /// Audio pushes that were refused before they reached the engine, by cause, since the engine
    /// was created. Thread: any.
    nonisolated public var refusedAudioPushes: DropCounts { audioPushes.refused.all }

    // MARK: Internal

    func disableAudioPush() {
        audio.external = nil
        audioPushes.source = nil
    }

    static func externalFormat(
        _ sampleRate: Int, _ channels: Int
    ) throws(EngineError) -> AudioFormat {
        guard (8000...48000).contains(sampleRate), (1...2).contains(channels) else {
            throw EngineError(
                .invalidArgument,
                message: "unsupported audio format: \(sampleRate) Hz, \(channels) channels",
                advice: "8000 to 48000 Hz, 1 or 2 channels")
        }
        return AudioFormat(sampleRate: sampleRate, channels: channels)
    }
}
