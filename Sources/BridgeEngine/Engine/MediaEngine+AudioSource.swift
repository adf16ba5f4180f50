internal import MediaBasics
public import MediaCore

extension MediaEngine {
    /// Replaces the audio source; `nil` selects the microphone. An engine has no audio before this
    /// or ``enableAudio()`` is called.
    ///
    /// While the engine runs, the new source is started in parallel with the old one and takes over
    /// with its first frame, so that no audio is missing in between. If it cannot start, the old one
    /// continues and the reason is thrown.
    ///
    /// - Throws: ``EngineError``: ``EngineError/Code/sourceNotInitialized`` (for example, no sound
    ///   card), ``EngineError/Code/sourceNotStarted``, ``EngineError/Code/stuck``,
    ///   ``EngineError/Code/noFrame`` if the new source delivers no frame in time, or
    ///   ``EngineError/Code/cancelled`` if the task is cancelled before the first frame.
    public func setAudioSource(
        _ source: sending (any AudioSource)?
    ) async throws(EngineError) {
        let next: AudioSourceHost?
        if let source { next = makeAudioSourceHost(source) } else { next = nil }
        try await enter(cancelling: "the change of source")
        defer { leave() }
        if let next, next.identity == audioSlot.chosen?.identity, audioSlot.pushHost == nil {
            hub.post(
                .warning("\(next.typeName) is already the audio source; nothing changed"))
            return
        }
        if next == nil, audioSlot.chosen == nil, audioSlot.pushHost == nil,
            audioSlot.host != nil, !audioSlot.hasEnded
        {
            return  // the microphone runs already
        }
        if let next { try refuseOverdue(next) }
        if !holds.isEmpty {
            // Not `??`, because its right side cannot suspend.
            let host = if let next { next } else { try await makeMicrophone() }
            try await changeAudio(to: host)
        }
        audioSlot.chosen = next
        audio.wantsMicrophone = next == nil
        disableAudioPush()
        noteAudioEnabled()
    }

    /// Turns audio on, from the source that was set or from the microphone.
    ///
    /// - Throws: As for ``setAudioSource(_:)`` if the engine runs. If it does not run yet and the
    ///   source fails to start later, ``EngineEvent/sourceFailed(_:_:)`` is posted and video
    ///   continues.
    public func enableAudio() async throws(EngineError) {
        try await enter()
        defer { leave() }
        guard !audio.isEnabled else { return }
        let before = audio.wantsMicrophone
        audio.wantsMicrophone = audioSlot.pushHost == nil && audioSlot.chosen == nil
        if !holds.isEmpty {
            do throws(EngineError) { try await startAudio() } catch {
                audio.wantsMicrophone = before
                throw error
            }
        }
        noteAudioEnabled()
    }

    /// Turns the engine's own audio off and stops its source. Other users are still heard.
    public func disableAudio() async throws(EngineError) {
        try await enter()
        defer { leave() }
        guard audio.isEnabled else { return }
        await stopAudio()
        disableAudioNow()
    }

    /// Stops publishing audio and withdraws the request for the microphone.
    func disableAudioNow() {
        audio.publisher?.stop()
        audio.publisher = nil
        audio.isEnabled = false
        audio.wantsMicrophone = false
    }

    /// Whether the engine's own audio is on.
    public var isAudioEnabled: Bool { audio.isEnabled }

    /// Mutes or unmutes the engine's own audio in the channel, and notifies the other users. The
    /// source keeps running. Thread: any.
    nonisolated public func muteLocalAudio(_ isMuted: Bool) { audioTrack.isMuted = isMuted }

    /// Sets the processors of the engine's own audio, from the next frame on; an empty list removes
    /// them. They process audio before all sinks and the channel, and are called on the thread that
    /// delivers the audio, one frame at a time. Thread: any.
    nonisolated public func setAudioProcessors(_ processors: sending [any AudioProcessor]) {
        audioTrack.processing.set(processors)
    }

    // MARK: Internal

    func makeAudioSourceHost(_ source: sending any AudioSource) -> AudioSourceHost {
        audio.sourceNumber += 1
        return AudioSourceHost(
            source, number: audio.sourceNumber, to: audioTrack, trace: transitions)
    }

    private func makeMicrophone() async throws(EngineError) -> AudioSourceHost {
        audio.sourceNumber += 1
        return try await makeDefault(
            "microphone", call: "makeDefaultAudioSource",
            advice: "setAudioSource(_:)",
            number: audio.sourceNumber, to: audioTrack
        ) { try $0.makeDefaultAudioSource() }
    }

    /// Starts the selected source.
    func startAudio() async throws(EngineError) {
        guard audioSlot.host == nil else { return }
        do throws(EngineError) {
            let wanted = audioSlot.pushHost ?? audioSlot.chosen
            guard wanted != nil || audio.wantsMicrophone else {
                throw EngineError(
                    .invalidState, message: "no audio source is set",
                    advice: "enableAudio() for the microphone, or setAudioSource(_:)")
            }
            let host = if let wanted { wanted } else { try await makeMicrophone() }
            try await changeAudio(to: host)
        } catch {
            hub.post(.localState(.audio, .failed))
            throw error
        }
    }

    /// Makes a source the running one. If that fails, the previous one continues.
    func changeAudio(
        to host: AudioSourceHost, awaitsFrame: Bool = true
    ) async throws(EngineError) {
        let isFirst = audioSlot.host == nil
        try await swap(to: host, in: audioSlot, awaitsFrame: awaitsFrame)
        guard isFirst else { return }
        hub.post(.localState(.audio, .capturing))
        checkEnding(of: audioSlot)
    }

    /// Called with the first hold, in parallel with the start of the video source.
    func acquireAudio() async {
        await bringUpSinks(AudioMedia.self) { $0.isLocal }
        guard audio.isEnabled else { return }
        do throws(EngineError) { try await startAudio() } catch {
            hub.post(.sourceFailed(.audio, error))
        }
    }

    /// Called when the last hold is released.
    func releaseAudio() async {
        await stopAudio()
        await tearDownSinks(AudioMedia.self) { $0.isLocal }
    }

    func stopAudio() async {
        guard audioSlot.host != nil else { return }
        await stopSource(of: audioSlot)
        hub.post(.localState(.audio, .stopped))
    }

    /// Turns audio on and publishes it if the engine sends to a channel.
    func noteAudioEnabled() {
        audio.isEnabled = true
        if holds.contains(.channel) { publishAudio() }
    }

    /// Called by ``shutDown()``.
    func shutDownAudio() async {
        disableAudioPush()
        if pulled.exchange(nil) != nil { remote.audio.mixer.end() }
        audio = AudioState()
        audioSlot = SourceSlot(audioTrack)
    }
}

/// The engine's audio state.
struct AudioState {
    var sourceNumber = 0
    /// Whether the engine's own audio is on.
    var isEnabled = false
    /// Whether the program has requested the microphone, which is never opened otherwise.
    var wantsMicrophone = false
    var publisher: AudioPublisher?
    var encoder = AudioEncoderConfiguration()
    /// The timer that mixes for the playback sinks; `nil` if nothing is mixed for sinks.
    var playback: Heartbeat?
}
