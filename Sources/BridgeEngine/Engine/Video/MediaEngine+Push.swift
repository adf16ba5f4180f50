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
            guard pushHost != nil else { return }
            if !holds.isEmpty { try await swap(to: try await host(besidesPush: chosen)) }
            await disablePush()
            return
        }
        let kind: PushVideoSource.Kind =
            encodedFrame ? .encoded : useTexture ? .pixelBuffers : .bytes
        let source = makePushSource(kind)
        let host = makeHost(source, for: mainTrack)
        if !holds.isEmpty { try await prepareSwap(to: host) }
        await disablePush(for: host)
        pushes[.main] = source
        pushHost = host
    }

    /// Whether push mode is on.
    public var isExternalVideoSourceEnabled: Bool { pushHost != nil }

    /// Pushes one frame.
    ///
    /// - Returns: The outcome: ``FrameDisposition/notEnabled`` without push mode,
    ///   ``FrameDisposition/notStarted`` unless preview or channel runs. Thread: any, one push at a
    ///   time for each track; returns without waiting for the engine.
    @discardableResult
    nonisolated public func pushExternalVideoFrame(
        _ frame: ExternalVideoFrame, track: TrackID = .main
    ) -> FrameDisposition {
        pushes[track]?.push(frame) ?? refuse()
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
        pushes[track]?.push(unit) ?? refuse()
    }

    nonisolated private func refuse() -> FrameDisposition {
        pushes.refused.note(.notEnabled)
        return .notEnabled
    }

    /// Pushes that were refused before they reached a track, by cause, since the engine was
    /// created. Thread: any.
    nonisolated public var refusedPushes: DropCounts { pushes.refused.all }

    // MARK: Tracks

    /// Creates a track for pushed frames. It runs while preview or channel does, is shown by
    /// renderers of its ``StreamID``, and is sent once it is published.
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
        let kind: PushVideoSource.Kind =
            encodedFrame ? .encoded : useTexture ? .pixelBuffers : .bytes
        let track = makeTrack(id)
        let source = makePushSource(kind)
        let host = makeHost(source, for: track)
        slots[id] = TrackSlot(track: track)
        slots[id]?.pushHost = host
        pushes[id] = source
        if !holds.isEmpty { try await start(host, id) }
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
        await stopSource(of: id)
        for entry in renderers.values where entry.stream == .local(id) { await remove(entry) }
        slot.track.close()
        let final = await complete(unless: false) {
            counts(of: slot.track, id, clock.clockTime())
        }
        gone.tracks.add(id, final)
        slots[id] = nil
    }

    // MARK: Internal

    private func makePushSource(_ kind: PushVideoSource.Kind) -> PushVideoSource {
        PushVideoSource(kind, clock: clock, refused: pushes.refused)
    }

    /// Turns push mode off. If no push has come yet, the push source is not the running one; it is
    /// stopped and disposed of here.
    ///
    /// - Parameter next: Another push source, which waits for its first push instead; `nil` for
    ///   none.
    func disablePush(for next: VideoSourceHost? = nil) async {
        guard let host = pushHost else { return }
        pushHost = nil
        pushes[.main] = nil
        mainTrack.forget(host.port, for: next?.port)
        if slots[.main]?.host !== host { await takeDown(host) }
    }
}
