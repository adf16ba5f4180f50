package import MediaCore
internal import Synchronization

// Sources to which the program pushes frames.
extension MediaEngine {
    /// Selects the source of pushed frames; `nil` selects the previous source again.
    ///
    /// While the engine runs, the previous source delivers until the first push, and the one that
    /// follows takes over with its first frame.
    package func setPushSource(
        _ source: (any VideoSource & Sendable)?
    ) async throws(EngineError) {
        try await enter()
        defer { leave() }
        guard let source else {
            guard mainSlot.pushHost != nil else { return }
            if !holds.isEmpty {
                try await swap(to: try await hostOrDefault(mainSlot.chosen), in: mainSlot)
            }
            await disablePush()
            return
        }
        let host = makeHost(source, for: mainTrack)
        if !holds.isEmpty { try await prepareSwap(to: host) }
        await disablePush(for: host)
        pushes[.main] = source
        mainSlot.pushHost = host
    }

    /// Creates a track for pushed frames. It runs while preview or channel does.
    package func addTrack(
        from source: any VideoSource & Sendable
    ) async throws(EngineError) -> TrackID {
        try await enter()
        defer { leave() }
        trackNumber += 1
        let id = TrackID(trackNumber)
        let track = LocalTrack(
            id, clock: clock, backend: backend, events: hub,
            keepsLastFrame: configuration.keepsLastFrame, queueTimeout: configuration.queueTimeout
        ) { [relay] in relay.post($0, of: .video(id)) }
        let host = makeHost(source, for: track)
        let slot = SourceSlot<VideoMedia>(track)
        slot.pushHost = host
        slots[id] = slot
        pushes[id] = source
        if !holds.isEmpty { try await start(host, in: slot) }
        return id
    }

    /// Destroys a track that ``addTrack(from:)`` created, and removes its sinks.
    ///
    /// - Throws: ``EngineError/Code/invalidArgument`` if there is no such track.
    package func removeTrack(_ id: TrackID) async throws(EngineError) {
        try await enter()
        defer { leave() }
        guard id != .main, let slot = slots[id] else {
            throw EngineError(.invalidArgument, message: "custom \(id) not found")
        }
        await stopPublishing(id)
        pushes[id] = nil
        await stopSource(of: slot)
        for entry in sinks.video.values where entry.stream == .local(id) { await remove(entry) }
        slot.track.close()
        let final = await complete(unless: false, waiting: \.balance.waiting) {
            counts(of: slot.track, id, clock.clockTime())
        }
        removed.tracks.add(id, final)
        slots[id] = nil
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

    // MARK: Audio

    /// Selects the source of pushed audio; `nil` selects the source that was set before. If none
    /// was, audio is turned off.
    ///
    /// - Throws: The reason why that source does not start; there is no audio then.
    package func setAudioPushSource(
        _ source: (any AudioSource & Sendable)?
    ) async throws(EngineError) {
        try await enter()
        defer { leave() }
        guard let source else {
            guard audioSlot.pushHost != nil else { return }
            disableAudioPush()
            let isRunning = audioSlot.host != nil
            await stopAudio()
            guard audioSlot.chosen != nil else { return disableAudioNow() }
            if isRunning { try await startAudio() }
            return
        }
        let host = makeAudioSourceHost(source)
        if !holds.isEmpty { try await changeAudio(to: host, awaitsFrame: false) }
        audioSlot.pushHost = host
        audio.wantsMicrophone = false
        audioPushes[.main] = source
        noteAudioEnabled()
    }

    func disableAudioPush() {
        audioSlot.pushHost = nil
        audioPushes[.main] = nil
    }
}

/// Holds the sources to which the program pushes, by track, so that a push need not wait for the
/// engine.
package final class PushTable<Source: Sendable>: Sendable {
    private let sources = Mutex<[TrackID: Source]>([:])

    init() {}

    /// The source of a track; `nil` if the program does not push to it.
    package subscript(track: TrackID) -> Source? {
        get { sources.withLock { $0[track] } }
        set {
            // The previous source is released outside the lock, with its consumer.
            _ = sources.withLock { sources in
                defer { sources[track] = newValue }
                return sources[track]
            }
        }
    }
}
