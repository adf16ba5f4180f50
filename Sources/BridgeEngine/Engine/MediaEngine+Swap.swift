internal import MediaBasics
internal import MediaCore

// Replacing the source while frames flow.
extension MediaEngine {
    /// Starts `host` in parallel with the running source; it takes over with its first frame. If
    /// that frame does not arrive, `host` is stopped and disposed of again, and the running source
    /// stays.
    func swap(to host: VideoSourceHost) async throws(EngineError) {
        guard let old = slots[.main]?.host else { return try await start(host, .main) }
        // It is the running source already. The caller discards a source that waits to take over.
        guard old !== host || !mainTrack.isListening(to: host.port) else { return }
        let before = mainTrack.expect(host.port)
        do throws(EngineError) {
            try await bringUp(host)
            try await firstFrame(of: host)
        } catch {
            // It may have taken over just before the deadline.
            if mainTrack.forget(host.port, for: before) {
                await takeDown(host)
                throw error
            }
        }
        await finishSwap(from: old, to: host)
    }

    /// Like ``swap(to:)``, but for a push source: returns before its first frame.
    func prepareSwap(to host: VideoSourceHost) async throws(EngineError) {
        guard slots[.main]?.host != nil else { return try await start(host, .main) }
        let before = mainTrack.expect(host.port)
        do throws(EngineError) { try await bringUp(host) } catch {
            mainTrack.forget(host.port, for: before)
            throw error
        }
    }

    private func firstFrame(of host: VideoSourceHost) async throws(EngineError) {
        let once = Once<Bool>()
        slots[.main]?.awaiting = (host.port, once)
        defer { slots[.main]?.awaiting = nil }
        try await firstFrame(
            of: host, by: once, hasTakenOver: mainTrack.isListening(to: host.port))
    }

    /// Ends a wait for the first frame of a source if the frame has come or cannot come any more.
    static func settle<Media>(
        _ once: Once<Bool>, on port: SourcePort<Media>, hasTakenOver: Bool
    ) {
        if hasTakenOver { once.resume(true) } else if port.hasEnded { once.resume(false) }
    }

    /// Waits for the first frame of a source.
    ///
    /// - Parameters:
    ///   - once: Resumed with whether the source has taken over; false if it no longer can.
    ///   - hasTakenOver: Whether its first frame came before the wait began.
    func firstFrame<Media>(
        of host: SourceHost<Media>, by once: Once<Bool>, hasTakenOver: Bool
    ) async throws(EngineError) {
        Self.settle(once, on: host.port, hasTakenOver: hasTakenOver)
        let limit = configuration.firstFrameTimeout
        once.expire(after: limit, on: clock.timeline)
        let came = await once.value(isCancellable: true)
        guard came != true else { return }
        if came == nil, Task.isCancelled { throw Self.cancelled("the change of source") }
        if case .failed(let error) = host.port.takeEndings().last {
            throw EngineError(
                .sourceFailed, message: "\(host.typeName) failed before its first frame",
                underlying: error)
        }
        throw EngineError(
            .noFrame,
            message: came == nil
                ? "\(host.typeName) delivered no frame within \(limit)"
                : "\(host.typeName) ended without a frame",
            advice: "check what it captures; the previous source is still in use")
    }

    /// The new source has taken over: stops the old one and disposes of it.
    func finishSwap(from old: VideoSourceHost, to host: VideoSourceHost) async {
        let hadFailed = slots[.main]?.hasFailed == true
        slots[.main]?.host = host
        limitSource(of: .main)
        slots[.main]?.hasEnded = false
        slots[.main]?.hasFailed = false
        slots[.main]?.restarts.cancel()
        hub.post(.sourceSwitched(.main))
        noteResumed(.main)
        if hadFailed { hub.post(.localVideoState(.capturing)) }
        checkEnding(of: .main)
        if old !== host { await takeDown(old) }
    }
}

// Restarting a source: at the program's request, or because the source failed.
extension MediaEngine {
    /// Restarts the running source without releasing the holds.
    ///
    /// - Parameter reopening: Whether it is also disposed of and initialised again, instead of only
    ///   stopped and started. Default false.
    /// - Throws: ``EngineError/Code/invalidState`` if no source runs, or the reason why it does not
    ///   start; the call may be repeated.
    public func restartVideoSource(reopening: Bool = false) async throws(EngineError) {
        try await enter()
        defer { leave() }
        guard let host = slots[.main]?.host else {
            throw EngineError(
                .invalidState, message: "no source is running",
                advice: "startPreview() or joinChannel(_:token:userID:) first")
        }
        slots[.main]?.restarts.cancel()
        try await restart(host, .main, reopening: reopening)
    }

    private func restart(
        _ host: VideoSourceHost, _ id: TrackID, reopening: Bool
    ) async throws(EngineError) {
        guard let track = slots[id]?.track else { return }
        let wasDown = slots[id]?.hasFailed == true
        if reopening { await takeDown(host) } else { await stop(host) }
        track.listen(to: host.port)
        slots[id]?.hasEnded = false
        slots[id]?.hasFailed = false
        do throws(EngineError) {
            // If an earlier attempt has failed, the source must be initialised too.
            try await bringUp(host)
        } catch {
            slots[id]?.hasFailed = true
            if id == .main, !wasDown { hub.post(.localVideoState(.failed)) }
            throw error
        }
        if id == .main, wasDown, slots[id]?.hasFailed == false {
            hub.post(.localVideoState(.capturing))
        }
        checkEnding(of: id)
    }

    /// Schedules the next attempt if the configuration has a restart policy. The delay doubles with
    /// each attempt.
    func restartLater(_ host: VideoSourceHost, _ id: TrackID) {
        guard let policy = configuration.restart, let slot = slots[id], slot.host === host,
            slot.restarts.timer == nil, !host.isGivenUp
        else { return }
        guard
            let (attempt, delay) = slots[id]?.restarts.attempts.next(
                policy, at: clock.now, delivered: host.port.accepted)
        else { return }
        let number = slot.restarts.number + 1
        slots[id]?.restarts.number = number
        slots[id]?.restarts.timer = OneShotTimer(after: delay, on: clock.timeline) { [weak self] in
            ControlTask.start { [weak self] in
                await self?.restart(number, attempt, host, id)
            }
        }
    }

    private func restart(
        _ number: Int, _ attempt: Int, _ host: VideoSourceHost, _ id: TrackID
    ) async {
        do throws(EngineError) { try await enter() } catch { return }
        defer { leave() }
        // The source may have been stopped or replaced meanwhile.
        guard let slot = slots[id], slot.restarts.number == number, slot.host === host else {
            return
        }
        slots[id]?.restarts.timer = nil
        hub.post(.sourceRestarting(id, attempt: attempt))
        slots[id]?.restarts.attempts.begin(at: clock.now, delivered: host.port.accepted)
        do throws(EngineError) {
            try await restart(host, id, reopening: true)
        } catch {
            hub.post(.sourceFailed(id, error))
            restartLater(host, id)
        }
    }
}
