internal import MediaBasics
public import MediaCore

extension MediaEngine {
    /// Replaces the source; `nil` brings back the default one: the camera, else the screen, else a test
    /// picture.
    ///
    /// While the engine runs, the new source is started beside the old one and takes over with its first
    /// frame: nothing goes black, and time goes on. Where it cannot start, the old one goes on and the
    /// reason is thrown. The source in use set again changes nothing, with a warning.
    ///
    /// - Throws: ``EngineError``: ``EngineError/Code/sourceNotInitialized``,
    ///   ``EngineError/Code/sourceNotStarted``, ``EngineError/Code/stuck``, or
    ///   ``EngineError/Code/noFrame`` where the new source delivers nothing in time;
    ///   ``EngineError/Code/cancelled`` in a task that is cancelled before its first frame.
    public func setVideoSource(
        _ source: sending (any VideoSource)?
    ) async throws(EngineError) {
        let what = "the change of source"
        guard let source else {
            try await enter(cancelling: what)
            defer { leave() }
            guard chosen != nil || pushHost != nil else { return }
            if !holds.isEmpty { try await swap(to: try await host(besidesPush: nil)) }
            chosen = nil
            await disablePush()
            return
        }
        let fresh = makeSeat(source, for: mainTrack)
        try await enter(cancelling: what)
        defer { leave() }
        let isKnown = fresh.identity == chosen?.identity
        guard !isKnown || pushHost != nil else {
            hub.post(.warning("\(fresh.typeName) is the video source already; nothing changes"))
            return
        }
        let host = isKnown ? chosen ?? fresh : fresh
        try refuseOverdue(host)
        if !holds.isEmpty { try await swap(to: host) }
        chosen = host
        await disablePush()
    }

    /// The source that was set last; `nil` while the default one, or push mode, is in use.
    public var videoSource: VideoSourceReference? {
        pushHost == nil ? chosen.map { VideoSourceReference(host: $0) } : nil
    }

    // MARK: Seats

    func makeSeat(_ source: sending any VideoSource, for track: LocalTrack) -> VideoSourceHost {
        sourceNumber += 1
        return VideoSourceHost(source, number: sourceNumber, to: track, trace: transitions)
    }

    private func makeDefaultSeat() async throws(EngineError) -> VideoSourceHost {
        sourceNumber += 1
        let (backend, track, trace) = (self.backend, mainTrack, transitions)
        let number = sourceNumber
        // Devices may take their time to answer, and the engine has other things to do.
        let limit = configuration.callDeadline
        let made = await controlQueue.outcome(within: limit) {
            Result<VideoSourceHost, any Error> {
                VideoSourceHost(
                    try backend.makeDefaultSource(), number: number, to: track, trace: trace)
            }
        }
        guard let made else {
            throw EngineError(
                .stuck, call: "makeDefaultSource",
                message: "no default source was found within \(limit)",
                advice: "setVideoSource(_:) with one of your own")
        }
        do { return try made.get() } catch {
            throw EngineError(
                .sourceNotInitialized, message: "there is no default source", underlying: error)
        }
    }

    /// The source that runs without push mode: the one that does already, where push mode waits for its
    /// first push.
    ///
    /// - Parameter host: What the program set; `nil` for the default.
    func host(besidesPush host: VideoSourceHost?) async throws(EngineError) -> VideoSourceHost {
        if let host { return host }
        if let running = slots[.main]?.host, running !== pushHost, running !== chosen {
            return running
        }
        return try await makeDefaultSeat()
    }

    /// The source that the main track is to have.
    private func wantedSeat() async throws(EngineError) -> VideoSourceHost {
        if let host = pushHost ?? chosen { return host }
        return try await makeDefaultSeat()
    }

    // MARK: Holds

    /// Starts the sources, unless something holds them already.
    func acquire(_ hold: Hold) async throws(EngineError) {
        guard holds.isEmpty else {
            holds.insert(hold)
            return
        }
        // Renderers first, so that they miss no frame.
        await bringUp { $0.isLocal }
        // Beside the pictures: what belongs together begins together.
        async let sound: Void = acquireAudio()
        do throws(EngineError) {
            if configuration.hasVideo { try await start(try await wantedSeat(), .main) }
        } catch {
            await sound
            await releaseAudio()
            await takeDown { $0.isLocal }
            hub.post(.localVideoState(.failed))
            throw error
        }
        await sound
        holds.insert(hold)
        for (id, slot) in slots where id != .main {
            guard let host = slot.pushHost else { continue }
            do throws(EngineError) { try await start(host, id) } catch {
                hub.post(.sourceFailed(error))
            }
        }
        if configuration.hasVideo { hub.post(.localVideoState(.capturing)) }
        for id in slots.keys { checkEnding(of: id) }
        startHeartbeat()
    }

    func start(_ host: VideoSourceHost, _ id: TrackID) async throws(EngineError) {
        guard let track = slots[id]?.track else { return }
        track.listen(to: host.port)
        do throws(EngineError) { try await bringUp(host) } catch {
            track.listen(to: nil)
            throw error
        }
        slots[id]?.host = host
        slots[id]?.hasEnded = false
        slots[id]?.hasFailed = false
    }

    /// Lets a hold go; the last one stops the sources.
    func release(_ hold: Hold) async {
        guard holds.remove(hold) != nil, holds.isEmpty else { return }
        for id in slots.keys { await stopSource(of: id) }
        await releaseAudio()
        // Push mode that no push has come to yet.
        if let pushHost {
            mainTrack.forget(pushHost.port)
            await takeDown(pushHost)
        }
        await takeDown { $0.isLocal }
        if configuration.hasVideo { hub.post(.localVideoState(.stopped)) }
        if membership == nil { stopHeartbeat() }
    }

    func stopSource(of id: TrackID) async {
        guard let slot = slots[id], let host = slot.host else { return }
        endStall(id)
        slots[id]?.restarts.cancel()
        slots[id]?.host = nil
        await takeDown(host)
        // What the source delivered before goes its way.
        await slot.track.processing.drained(within: configuration.callDeadline)
        slot.track.listen(to: nil)
    }
}

/// A source that the engine holds.
public struct VideoSourceReference: Sendable {
    let host: VideoSourceHost

    /// Whether it is this object.
    public func refers(to source: any VideoSource) -> Bool {
        ObjectIdentifier(source) == host.identity
    }

    /// Runs `body` with the source, on the one thread that calls it, between two of the engine's calls.
    /// It waits while such a call is under way.
    public func perform<R: Sendable>(
        _ body: @Sendable (any VideoSource) throws -> R
    ) async rethrows -> R {
        try await host.perform(body)
    }
}
