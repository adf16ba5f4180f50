internal import MediaBasics
public import MediaCore

extension MediaEngine {
    /// Replaces the source of sound; `nil` brings back the microphone. An engine has no sound before this,
    /// ``enableAudio()`` or ``enableExternalAudioSource(sampleRate:channels:)`` is called.
    ///
    /// While the engine runs, the new source is started before the old one is stopped; where it cannot
    /// start, the old one goes on and the reason is thrown. What is missing in between is filled with
    /// silence and counted.
    ///
    /// - Throws: ``EngineError``: ``EngineError/Code/sourceNotInitialized`` (no sound card, say),
    ///   ``EngineError/Code/sourceNotStarted``, ``EngineError/Code/stuck``.
    public func setAudioSource(
        _ source: sending (any AudioSource)?
    ) async throws(EngineError) {
        let next: AudioSourceHost?
        if let source { next = makeAudioSeat(source) } else { next = nil }
        try await enter()
        defer { leave() }
        if let next, next.identity == audio.chosen?.identity, audio.external == nil {
            hub.post(
                .warning("\(next.typeName) is the source of sound already; nothing changes"))
            return
        }
        if let next { try refuseOverdue(next) }
        if !holds.isEmpty {
            // Not `??`, which does not suspend.
            let host = if let next { next } else { try await makeMicrophone() }
            try await changeAudio(to: host)
        }
        audio.chosen = next
        audio.wantsMicrophone = next == nil
        disableAudioPush()
        noteAudioEnabled()
    }

    /// Turns sound on: of the source that was set, or of the microphone.
    ///
    /// - Throws: As ``setAudioSource(_:)``, where the engine runs; a start later fails with
    ///   ``EngineEvent/audioSourceFailed(_:)``, and pictures go on.
    public func enableAudio() async throws(EngineError) {
        try await enter()
        defer { leave() }
        guard !audio.isEnabled else { return }
        let before = audio.wantsMicrophone
        audio.wantsMicrophone = audio.external == nil && audio.chosen == nil
        if !holds.isEmpty {
            do throws(EngineError) { try await startAudio() } catch {
                audio.wantsMicrophone = before
                throw error
            }
        }
        noteAudioEnabled()
    }

    /// Turns the engine's own sound off; its source is stopped. Others are still heard.
    public func disableAudio() async throws(EngineError) {
        try await enter()
        defer { leave() }
        guard audio.isEnabled else { return }
        await stopAudio()
        disableAudioNow()
    }

    /// There is no sound, and nobody has asked for the microphone.
    func disableAudioNow() {
        audio.publisher?.stop()
        audio.publisher = nil
        audio.isEnabled = false
        audio.wantsMicrophone = false
    }

    /// Whether the engine has sound of its own.
    public var isAudioEnabled: Bool { audio.isEnabled }

    /// Sends nothing to the channel, or something again. The source goes on.
    nonisolated public func muteLocalAudio(_ isMuted: Bool) { audioTrack.isMuted = isMuted }

    /// Whether ``muteLocalAudio(_:)`` has muted the engine.
    nonisolated public var isLocalAudioMuted: Bool { audioTrack.isMuted }

    /// Sets what changes the engine's own sound before anybody hears it, from the next frame on; an empty
    /// list changes nothing. Processors are called on the thread of whoever delivers, one frame at a time.
    nonisolated public func setAudioProcessors(_ processors: sending [any AudioProcessor]) {
        audioTrack.processing.set(processors)
    }

    // MARK: Inside

    private func makeAudioSeat(_ source: sending any AudioSource) -> AudioSourceHost {
        audio.sourceNumber += 1
        return AudioSourceHost(
            source, number: audio.sourceNumber, to: audioTrack, trace: transitions)
    }

    private func makeMicrophone() async throws(EngineError) -> AudioSourceHost {
        audio.sourceNumber += 1
        let (backend, track, trace) = (self.backend, audioTrack, transitions)
        let number = audio.sourceNumber
        let limit = configuration.callDeadline
        // Devices may take their time to answer, and the engine has other things to do.
        let made = await controlQueue.outcome(within: limit) {
            Result<AudioSourceHost, any Error> {
                AudioSourceHost(
                    try backend.makeDefaultAudioSource(), number: number, to: track, trace: trace)
            }
        }
        guard let made else {
            throw EngineError(
                .stuck, call: "makeDefaultAudioSource",
                message: "no microphone was found within \(limit)",
                advice: "setAudioSource(_:) with one of your own")
        }
        do { return try made.get() } catch {
            throw EngineError(
                .sourceNotInitialized, message: "there is no microphone",
                advice: "setAudioSource(_:), or enableExternalAudioSource(sampleRate:channels:)",
                underlying: error)
        }
    }

    /// Starts the source that is wanted.
    func startAudio() async throws(EngineError) {
        guard audio.running == nil else { return }
        do throws(EngineError) {
            let wanted = audio.external ?? audio.chosen
            guard wanted != nil || audio.wantsMicrophone else {
                throw EngineError(
                    .invalidState, message: "there is no source of sound",
                    advice: "enableAudio() for the microphone, or setAudioSource(_:)")
            }
            let host = if let wanted { wanted } else { try await makeMicrophone() }
            try await changeAudio(to: host)
        } catch {
            hub.post(.localAudioState(.failed))
            throw error
        }
    }

    /// Goes over to a source; the one before goes on where that fails.
    func changeAudio(to host: AudioSourceHost) async throws(EngineError) {
        let old = audio.running
        guard old !== host else { return }
        // A file that nobody listens to would run to its end meanwhile.
        audioTrack.expect(host.port)
        do throws(EngineError) { try await bringUp(host) } catch {
            audioTrack.expect(nil)
            throw error
        }
        audioTrack.listen(to: host.port)
        (audio.running, audio.hasEnded, audio.watch) = (host, false, StallWatch())
        if let old { await takeDown(old) }
        hub.post(.localAudioState(.capturing))
        checkAudioEnding()
    }

    /// With the first hold, beside the pictures.
    func acquireAudio() async {
        await bringUpAudioSinks { $0.isLocal }
        guard audio.isEnabled else { return }
        do throws(EngineError) { try await startAudio() } catch {
            hub.post(.audioSourceFailed(error))
        }
    }

    /// With the last hold.
    func releaseAudio() async {
        await stopAudio()
        await takeDownAudioSinks { $0.isLocal }
    }

    func stopAudio() async {
        guard let host = audio.running else { return }
        audio.running = nil
        await takeDown(host)
        audioTrack.listen(to: nil)
        hub.post(.localAudioState(.stopped))
    }

    private func takeDown(_ host: AudioSourceHost) async {
        host.port.close()
        let track = audioTrack
        if track.isListening(to: host.port) { track.letGo() }
        // Its thread may wait for a slow sink; half of the time it has for that.
        let timer = OneShotTimer(after: configuration.callDeadline / 2) { track.stopBlocking() }
        await tolerate(host, .stop)
        timer.cancel()
        await tolerate(host, .dispose)
    }

    /// From here on the channel hears of it, too.
    func noteAudioEnabled() {
        audio.isEnabled = true
        if holds.contains(.channel) { publishAudio() }
    }

    /// With everything else.
    func shutDownAudio() async {
        disableAudioPush()
        pulls.enable(nil)
        if audio.pulled != nil { remote.audio.mixer.end() }
        audio = AudioState()
    }

    /// Looks whether sinks take sound.
    func watchAudioSinks(_ now: MediaTime, _ limit: MediaTime) {
        for entry in audio.sinks.values {
            let id = entry.host.id
            for change in entry.host.feed.check(now: now, limit: limit) {
                hub.post(change == .stalled ? .audioSinkStalled(id) : .audioSinkResumed(id))
            }
        }
    }

    /// Looks whether sound comes.
    func watchAudio(_ limit: MediaTime) {
        guard audio.running != nil, !audio.hasEnded else { return }
        let since = audioTrack.silentSince
        let now = clock.now
        for change in audio.watch.look(since: since, now: now, limit: limit) {
            let silence = (now - (since ?? now)).duration
            hub.post(change == .stalled ? .audioSourceStalled(silence) : .audioSourceResumed)
        }
    }

    /// Acts upon the end of the source that runs, once. Also when it has just been started: what is short
    /// may have ended before the start returned.
    func checkAudioEnding() {
        guard let host = audio.running else { return }
        for ending in host.port.takeEndings() {
            audio.hasEnded = true
            switch ending {
            case .ended: hub.post(.audioSourceEnded)
            case .failed(let error):
                hub.post(
                    .audioSourceFailed(
                        EngineError(
                            .sourceFailed, message: "\(host.typeName) failed", underlying: error)))
                hub.post(.localAudioState(.failed))
            }
        }
    }
}
