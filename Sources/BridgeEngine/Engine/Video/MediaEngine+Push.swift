public import MediaCore

extension MediaEngine {
    /// Turns push mode on or off: on, the program's pushes take the source's place. While the engine
    /// runs, the source before delivers until the first push, and the one after takes over with its
    /// first frame.
    ///
    /// - Parameters:
    ///   - useTexture: Whether ``PixelBuffer``s are pushed, or bytes.
    ///   - encodedFrame: Whether encoded access units are pushed, and nothing else.
    public func setExternalVideoSource(
        enabled: Bool, useTexture: Bool, encodedFrame: Bool = false
    ) async throws(EngineError) {
        try await enter()
        defer { leave() }
        guard enabled else {
            guard pushHost != nil else { return }
            if !holds.isEmpty { try await swap(to: try await host(besidesPush: chosen)) }
            await disablePush()
            return
        }
        let kind: PushVideoSource.Kind =
            encodedFrame ? .encoded : useTexture ? .pixelBuffers : .bytes
        let source = makePushSource(kind, for: mainTrack)
        let host = makeSeat(source, for: mainTrack)
        if !holds.isEmpty { try await prepareSwap(to: host) }
        await disablePush(for: host)
        pushes[.main] = source
        pushHost = host
    }

    /// Whether push mode is on.
    public var isExternalVideoSourceEnabled: Bool { pushHost != nil }

    /// Pushes one picture.
    ///
    /// - Returns: What became of it: ``FrameDisposition/notEnabled`` without push mode,
    ///   ``FrameDisposition/notStarted`` while neither preview nor channel runs. Thread: any, one push at
    ///   a time for each track; returns at once.
    @discardableResult
    nonisolated public func pushExternalVideoFrame(
        _ frame: ExternalVideoFrame, track: TrackID = .main
    ) -> FrameDisposition {
        pushes[track]?.push(frame) ?? refuse()
    }

    /// Pushes one encoded access unit. Its picture comes as soon as it is decoded.
    ///
    /// A unit that is refused takes those with it that build on it: they are refused as
    /// ``DropCause/needsKeyFrame`` until the next key frame, and ``EngineEvent/keyFrameNeeded(_:)`` asks
    /// for one. The first unit must be a key frame.
    @discardableResult
    nonisolated public func pushExternalEncodedVideoFrame(
        _ unit: EncodedVideoFrame, track: TrackID = .main
    ) -> FrameDisposition {
        pushes[track]?.push(unit) ?? refuse()
    }

    nonisolated private func refuse() -> FrameDisposition {
        pushes.refused.note(.notEnabled)
        return .notEnabled
    }

    /// Pushes that were refused before they reached a track, by cause, since the engine was made.
    nonisolated public var refusedPushes: DropCounts { pushes.refused.all }

    // MARK: Tracks

    /// Makes a track of its own for pushes. It runs while preview or channel does, is shown by renderers
    /// of its ``StreamID``, and sent once it is published.
    public func createCustomVideoTrack(
        useTexture: Bool = true, encodedFrame: Bool = false
    ) async throws(EngineError) -> TrackID {
        try await enter()
        defer { leave() }
        trackNumber += 1
        let id = TrackID(trackNumber)
        let kind: PushVideoSource.Kind =
            encodedFrame ? .encoded : useTexture ? .pixelBuffers : .bytes
        let track = makeTrack(id)
        let source = makePushSource(kind, for: track)
        let host = makeSeat(source, for: track)
        slots[id] = TrackSlot(track: track)
        slots[id]?.pushHost = host
        pushes[id] = source
        if !holds.isEmpty { try await start(host, id) }
        return id
    }

    /// Ends a track, and takes its renderers away.
    public func destroyCustomVideoTrack(_ id: TrackID) async throws(EngineError) {
        try await enter()
        defer { leave() }
        guard id != .main, let slot = slots[id] else {
            throw EngineError(.invalidArgument, message: "there is no custom \(id)")
        }
        await stopPublishing(id)
        pushes[id] = nil
        await stopSource(of: id)
        for entry in renderers.values where entry.stream == .local(id) { await remove(entry) }
        slot.track.close()
        gone.tracks.add(id, counts(of: slot.track, id, clock.clockTime()))
        slots[id] = nil
    }

    // MARK: Inside

    private func makePushSource(
        _ kind: PushVideoSource.Kind, for track: LocalTrack
    ) -> PushVideoSource {
        PushVideoSource(
            kind, backend: backend, clock: clock, refused: pushes.refused,
            onLostUnits: { track.lostUnits.add($0, ordering: .relaxed) },
            onKeyFrameNeeded: { [hub, id = track.id] in hub.post(.keyFrameNeeded(id)) })
    }

    /// Push mode is off. Where no push came yet, its source waits beside another and is put away.
    ///
    /// - Parameter next: Another one that waits for its first push instead.
    func disablePush(for next: VideoSourceHost? = nil) async {
        guard let host = pushHost else { return }
        pushHost = nil
        pushes[.main] = nil
        mainTrack.forget(host.port, for: next?.port)
        if slots[.main]?.host !== host { await takeDown(host) }
    }
}
