public import MediaCore

extension MediaEngine {
    /// Takes the sound that the program pushes, in the source's place: signed 16-bit samples, interleaved.
    ///
    /// - Parameters:
    ///   - sampleRate: Hz, from 8000 to 48000.
    ///   - channels: One or two.
    /// - Throws: ``EngineError/Code/invalidArgument`` for any other.
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

    /// Takes no more pushes: the source that was set comes back; where none was, sound is off.
    ///
    /// - Throws: Why that does not start; there is no sound then.
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

    /// Whether pushes are taken.
    public var isExternalAudioSourceEnabled: Bool { audio.external != nil }

    /// Pushes sound. Its samples are copied.
    ///
    /// Times that say a gap or an overlap are believed: silence is filled in, samples are cut off, both are
    /// counted (``EngineStatistics/LocalAudio/corrections``). Times that go forward unevenly say when a
    /// push was made: then the samples count, and times correct them slowly (``AudioContinuity``).
    ///
    /// - Parameters:
    ///   - rawData: Signed 16-bit samples, interleaved; must reach over all of them.
    ///   - samples: Of each channel.
    ///   - timestamp: When the first was taken, in any one clock that goes forward, ``runningTime`` best;
    ///     `nil` for right behind the push before, or now.
    /// - Returns: What became of it: ``FrameDisposition/notEnabled`` without an external source,
    ///   ``FrameDisposition/notStarted`` while neither preview nor channel runs. Thread: any, one push at a
    ///   time; returns at once.
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

    /// The same with a time in seconds.
    @discardableResult
    nonisolated public func pushExternalAudioFrame(
        rawData: UnsafeRawPointer, samples: Int, timestamp: Double
    ) -> FrameDisposition {
        pushExternalAudioFrame(
            rawData: rawData, samples: samples, timestamp: MediaTime(seconds: timestamp))
    }

    /// Pushes samples of all channels in turn.
    ///
    /// - Returns: ``FrameDisposition/badSize`` where they are no whole number of each channel's, or none.
    @discardableResult
    nonisolated public func pushExternalAudioFrame(
        _ samples: [Int16], timestamp: MediaTime?
    ) -> FrameDisposition {
        guard let source = audioPushes.source else { return refuseAudio(.notEnabled) }
        return samples.withUnsafeBytes { source.push($0, time: timestamp) }
    }

    /// Pushes a frame without a copy.
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

    /// Pushes of sound that were refused before they reached the engine, by cause, since it was made.
    nonisolated public var refusedAudioPushes: DropCounts { audioPushes.refused.all }

    // MARK: Inside

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
                message: "\(sampleRate) Hz with \(channels) channels",
                advice: "8000 to 48000 Hz, one channel or two")
        }
        return AudioFormat(sampleRate: sampleRate, channels: channels)
    }
}
