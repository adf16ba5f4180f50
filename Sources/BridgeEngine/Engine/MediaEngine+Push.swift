public import MediaCore

extension MediaEngine {
    /// Turns push mode on or off. In push mode, frames that the program pushes replace the source.
    /// While the engine runs, the previous source delivers until the first push, and the one that
    /// follows takes over with its first frame.
    ///
    /// - Parameters:
    ///   - enabled: Whether push mode is on.
    ///   - useTexture: Whether ``PixelBuffer``s are pushed; otherwise bytes are.
    ///   - encodedFrame: Whether encoded access units are pushed, and nothing else. Default false.
    public func setExternalVideoSource(
        enabled: Bool, useTexture: Bool, encodedFrame: Bool = false
    ) async throws(EngineError) {
        try await enter()
        defer { leave() }
        guard enabled else {
            guard mainSlot.pushHost != nil else { return }
            if !holds.isEmpty {
                try await swap(to: try await hostOrDefault(mainSlot.chosen), in: mainSlot)
            }
            await disablePush()
            return
        }
        let source = makePushSource(useTexture, encodedFrame)
        let host = makeHost(source, for: mainTrack)
        if !holds.isEmpty { try await prepareSwap(to: host) }
        await disablePush(for: host)
        pushes[.main] = source
        mainSlot.pushHost = host
    }

    /// Pushes one frame.
    ///
    /// - Returns: The outcome: ``FrameDisposition/notEnabled`` without push mode,
    ///   ``FrameDisposition/notStarted`` unless preview or channel runs. Thread: any, one push at a
    ///   time for each track; returns without waiting for the engine.
    @discardableResult
    nonisolated public func pushExternalVideoFrame(
        _ frame: ExternalVideoFrame, track: TrackID = .main
    ) -> FrameDisposition {
        pushes[track]?.push(frame) ?? pushes.refused.refuse(.notEnabled)
    }

    /// Pushes one encoded access unit, in decoding order. Receivers that take units, such as a
    /// recorder, get it unchanged; it is decoded only while a receiver needs pictures.
    ///
    /// If a unit cannot be decoded, the units that depend on it are dropped too, as
    /// ``DropCause/needsKeyFrame``, until the next key frame, which
    /// ``EngineEvent/keyFrameNeeded(_:)`` requests. The first unit must be a key frame. What is lost
    /// after the push has returned is counted in ``EngineStatistics/Track/decoding``.
    @discardableResult
    nonisolated public func pushExternalEncodedVideoFrame(
        _ unit: EncodedVideoFrame, track: TrackID = .main
    ) -> FrameDisposition {
        pushes[track]?.push(unit) ?? pushes.refused.refuse(.notEnabled)
    }

    // MARK: Tracks

    /// Creates a track for pushed frames. It runs while preview or channel does, is shown by
    /// renderers of its ``VideoStreamID``, and is sent once it is published.
    ///
    /// - Parameters:
    ///   - useTexture: Whether ``PixelBuffer``s are pushed, which is the default; otherwise bytes
    ///     are.
    ///   - encodedFrame: Whether encoded access units are pushed, and nothing else. Default false.
    /// - Returns: The id of the track.
    public func createCustomVideoTrack(
        useTexture: Bool = true, encodedFrame: Bool = false
    ) async throws(EngineError) -> TrackID {
        try await enter()
        defer { leave() }
        trackNumber += 1
        let id = TrackID(trackNumber)
        let track = LocalTrack(
            id, clock: clock, backend: backend, events: hub,
            keepsLastFrame: configuration.keepsLastFrame, queueTimeout: configuration.queueTimeout
        ) { [relay] in relay.post($0, of: .video(id)) }
        let source = makePushSource(useTexture, encodedFrame)
        let host = makeHost(source, for: track)
        let slot = SourceSlot<VideoMedia>(track)
        slot.pushHost = host
        slots[id] = slot
        pushes[id] = source
        if !holds.isEmpty { try await start(host, in: slot) }
        return id
    }

    /// Destroys a custom track and removes its renderers.
    ///
    /// - Throws: ``EngineError/Code/invalidArgument`` if there is no such custom track.
    public func destroyCustomVideoTrack(_ id: TrackID) async throws(EngineError) {
        try await enter()
        defer { leave() }
        guard id != .main, let slot = slots[id] else {
            throw EngineError(.invalidArgument, message: "custom \(id) not found")
        }
        await stopPublishing(id)
        pushes[id] = nil
        await stopSource(of: slot)
        for entry in sinks.renderers.values where entry.stream == .local(id) { await remove(entry) }
        slot.track.close()
        let final = await complete(unless: false, waiting: \.balance.waiting) {
            counts(of: slot.track, id, clock.clockTime())
        }
        removed.tracks.add(id, final)
        slots[id] = nil
    }

    // MARK: Internal

    private func makePushSource(_ useTexture: Bool, _ encodedFrame: Bool) -> PushVideoSource {
        PushVideoSource(
            encodedFrame ? .encoded : useTexture ? .pixelBuffers : .bytes, clock: clock,
            refused: pushes.refused)
    }

    /// Turns push mode off. If no push has come yet, the push source is not the running one; it is
    /// stopped and disposed of here.
    ///
    /// - Parameter next: Another push source, which waits for its first push instead; `nil` for
    ///   none.
    func disablePush(for next: VideoSourceHost? = nil) async {
        guard let host = mainSlot.pushHost else { return }
        mainSlot.pushHost = nil
        pushes[.main] = nil
        mainTrack.entrance.forget(host.port, for: next?.port)
        if mainSlot.host !== host { await tearDown(host) }
    }
}

// MARK: Audio

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
        let source = PushAudioSource(format, refused: audioPushes.refused)
        let host = makeAudioSourceHost(source)
        if !holds.isEmpty { try await changeAudio(to: host, awaitsFrame: false) }
        audioSlot.pushHost = host
        audio.wantsMicrophone = false
        audioPushes[.main] = source
        noteAudioEnabled()
    }

    /// Disables pushed audio: the source that was set before is used again; if none was, audio is
    /// turned off.
    ///
    /// - Throws: The reason why that source does not start; there is no audio then.
    public func disableExternalAudioSource() async throws(EngineError) {
        try await enter()
        defer { leave() }
        guard audioSlot.pushHost != nil else { return }
        disableAudioPush()
        let isRunning = audioSlot.host != nil
        await stopAudio()
        guard audioSlot.chosen != nil else { return disableAudioNow() }
        if isRunning { try await startAudio() }
    }

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
        guard let source = audioPushes[.main] else {
            return audioPushes.refused.refuse(.notEnabled)
        }
        let (count, isTooMuch) = samples.multipliedReportingOverflow(
            by: source.format.sampleStride)
        guard samples > 0, !isTooMuch else { return audioPushes.refused.refuse(.badSize) }
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
        samples.withUnsafeBytes { audioPushes[.main]?.push($0, time: timestamp) }
            ?? audioPushes.refused.refuse(.notEnabled)
    }

    /// Pushes a frame without copying it.
    ///
    /// - Returns: ``FrameDisposition/badFormat`` for a format other than the one that was enabled.
    @discardableResult
    nonisolated public func pushExternalAudioFrame(_ frame: AudioFrame) -> FrameDisposition {
        audioPushes[.main]?.push(frame) ?? audioPushes.refused.refuse(.notEnabled)
    }

    // MARK: Internal

    func disableAudioPush() {
        audioSlot.pushHost = nil
        audioPushes[.main] = nil
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
