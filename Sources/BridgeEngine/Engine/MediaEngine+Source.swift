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
    ///   ``EngineError/Code/noFrame`` where the new source delivers nothing in time.
    public func setVideoSource(
        _ source: sending (any VideoSource)?
    ) async throws(EngineError) {
        guard let source else {
            try await enter()
            defer { leave() }
            guard chosen != nil || pushSeat != nil else { return }
            let next = holds.isEmpty ? nil : try makeDefaultSeat()
            if let next { try await swap(to: next) }
            chosen = nil
            await disablePush()
            return
        }
        let seat = makeSeat(source, for: slots[.main]!.track)
        try await enter()
        defer { leave() }
        guard seat.identity != chosen?.identity else {
            hub.post(.warning("\(seat.typeName) is the video source already; nothing changes"))
            return
        }
        if !holds.isEmpty { try await swap(to: seat) }
        chosen = seat
        await disablePush()
    }

    /// The source that was set last; `nil` while the default one, or push mode, is in use.
    public var videoSource: VideoSourceReference? {
        pushSeat == nil ? chosen.map { VideoSourceReference(seat: $0) } : nil
    }

    /// Starts the source again, without letting go of the holds.
    ///
    /// - Parameter reopening: Whether it is disposed of and initialised anew, or stopped and started.
    public func restartVideoSource(reopening: Bool = false) async throws(EngineError) {
        try await enter()
        defer { leave() }
        guard let seat = slots[.main]?.seat else {
            throw EngineError(
                .invalidState, message: "no source runs",
                advice: "startPreview() or joinChannel(_:token:userID:) first")
        }
        try await restart(seat, .main, reopening: reopening)
    }

    func restart(
        _ seat: SourceSeat, _ id: TrackID, reopening: Bool
    ) async throws(EngineError) {
        if reopening { await takeDown(seat) } else { await stop(seat) }
        slots[id]?.track.listen(to: seat.port)
        slots[id]?.hasEnded = false
        if reopening {
            try await bringUp(seat)
        } else {
            try await call(seat, .start) { seat async throws(EngineError) in
                try await seat.start()
            }
        }
    }

    // MARK: Seats

    func makeSeat(_ source: sending any VideoSource, for track: LocalTrack) -> SourceSeat {
        sourceNumber += 1
        return SourceSeat(source, number: sourceNumber, to: track, trace: transitions)
    }

    func makeDefaultSeat() throws(EngineError) -> SourceSeat {
        do {
            return makeSeat(try backend.makeDefaultSource(), for: slots[.main]!.track)
        } catch {
            throw EngineError(
                .sourceNotInitialized, message: "there is no default source", underlying: error)
        }
    }

    /// The source that the main track is to have.
    private func wantedSeat() throws(EngineError) -> SourceSeat {
        if let seat = pushSeat ?? chosen { return seat }
        return try makeDefaultSeat()
    }

    // MARK: Holds

    /// Starts the sources, unless something holds them already.
    func acquire(_ hold: Hold) async throws(EngineError) {
        guard holds.isEmpty else {
            holds.insert(hold)
            return
        }
        // Renderers first, so that they miss no frame.
        for entry in renderers.values where entry.stream.isLocal { await start(entry) }
        do throws(EngineError) {
            try await start(try wantedSeat(), .main)
        } catch {
            for entry in renderers.values where entry.stream.isLocal {
                await takeDown(entry.seat)
            }
            hub.post(.localVideoState(.failed))
            throw error
        }
        holds.insert(hold)
        for (id, slot) in slots where id != .main {
            guard let seat = slot.pushSeat else { continue }
            do throws(EngineError) { try await start(seat, id) } catch {
                hub.post(.sourceFailed(error))
            }
        }
        hub.post(.localVideoState(.capturing))
        startHeartbeat()
    }

    func start(_ seat: SourceSeat, _ id: TrackID) async throws(EngineError) {
        guard let track = slots[id]?.track else { return }
        track.listen(to: seat.port)
        do throws(EngineError) { try await bringUp(seat) } catch {
            track.listen(to: nil)
            throw error
        }
        slots[id]?.seat = seat
        slots[id]?.hasEnded = false
        refreshRequests()
    }

    /// Lets a hold go; the last one stops the sources.
    func release(_ hold: Hold) async {
        guard holds.remove(hold) != nil, holds.isEmpty else { return }
        restarting?.cancel()
        restarting = nil
        for id in slots.keys { await stopSource(of: id) }
        // Push mode that no push has come to yet.
        if let pushSeat {
            slots[.main]?.track.forget(pushSeat.port)
            await takeDown(pushSeat)
        }
        for entry in renderers.values where entry.stream.isLocal { await takeDown(entry.seat) }
        hub.post(.localVideoState(.stopped))
        if membership == nil { stopHeartbeat() }
    }

    func stopSource(of id: TrackID) async {
        guard let slot = slots[id], let seat = slot.seat else { return }
        slot.fallback?.cancel()
        slots[id]?.fallback = nil
        slots[id]?.isStalled = false
        slots[id]?.seat = nil
        await takeDown(seat)
        slot.track.listen(to: nil)
    }

    // MARK: One source after another

    /// Starts `seat` beside the source that runs; with its first frame it takes over.
    ///
    /// - Parameter waits: False to return at once, as for a source that the program pushes to.
    func swap(to seat: SourceSeat, waits: Bool = true) async throws(EngineError) {
        guard let track = slots[.main]?.track, let old = slots[.main]?.seat else {
            try await start(seat, .main)
            return
        }
        restarting?.cancel()
        track.expect(seat.port)
        do throws(EngineError) {
            try await bringUp(seat)
            if waits { try await firstFrame(of: seat, on: track) }
        } catch {
            track.forget(seat.port)
            await takeDown(seat)
            throw error
        }
        guard waits else { return }
        await finishSwap(from: old, to: seat)
    }

    private func firstFrame(
        of seat: SourceSeat, on track: LocalTrack
    ) async throws(EngineError) {
        guard !track.isListening(to: seat.port) else { return }
        let limit = configuration.firstFrameDeadline
        let came = await withCheckedContinuation { continuation in
            let once = Once<Bool>(continuation)
            let timer = OneShotTimer(after: limit) { once.resume(false) }
            timers.append(timer)
            slots[.main]?.awaiting = (seat.port, once)
            // It may have come before anybody waited.
            if track.isListening(to: seat.port) { once.resume(true) }
        }
        timers.removeAll()
        slots[.main]?.awaiting = nil
        guard came == true else {
            throw EngineError(
                .noFrame, message: "\(seat.typeName) delivered no frame within \(limit)",
                advice: "look at what it captures; the source before goes on")
        }
    }

    /// Puts the old source away.
    func finishSwap(from old: SourceSeat?, to seat: SourceSeat) async {
        slots[.main]?.seat = seat
        slots[.main]?.hasEnded = false
        hub.post(.sourceSwitched)
        refreshRequests()
        if let old, old !== seat { await takeDown(old) }
    }
}

/// A source that the engine holds.
public struct VideoSourceReference: Sendable {
    let seat: SourceSeat

    /// Whether it is this object.
    public func refers(to source: any VideoSource) -> Bool {
        ObjectIdentifier(source) == seat.identity
    }

    /// Runs `body` with the source, on the one thread that calls it, between two of the engine's calls.
    /// It waits while such a call is under way.
    public func perform<R: Sendable>(
        _ body: @Sendable (any VideoSource) throws -> R
    ) async rethrows -> R {
        try await seat.perform(body)
    }
}
