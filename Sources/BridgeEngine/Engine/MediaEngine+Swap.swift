internal import MediaBasics
internal import MediaCore

// Replacing the source while frames flow.
extension MediaEngine {
    /// Starts `host` in parallel with the running source; it takes over with its first frame. If
    /// that frame does not arrive, `host` is stopped and disposed of again, and the running source
    /// stays.
    ///
    /// - Parameter awaitsFrame: Whether the running source goes on until the first frame of `host`;
    ///   otherwise until `host` has started.
    func swap<Media>(
        to host: SourceHost<Media>, in slot: SourceSlot<Media>, awaitsFrame: Bool = true
    ) async throws(EngineError) {
        guard let old = slot.host else { return try await start(host, in: slot) }
        // It is the running source already. The caller discards a source that waits to take over.
        guard old !== host || !slot.track.isListening(to: host.port) else { return }
        let before = slot.track.entrance.expect(host.port)
        do throws(EngineError) {
            try await bringUp(host)
            if awaitsFrame { try await firstFrame(of: host, in: slot) }
        } catch {
            // It may have taken over just before the deadline.
            if slot.track.entrance.forget(host.port, for: before) {
                await tearDown(host)
                throw error
            }
        }
        if !slot.track.isListening(to: host.port) { slot.track.listen(to: host.port) }
        await finishSwap(from: old, to: host, in: slot)
    }

    /// Like ``swap(to:in:awaitsFrame:)``, but returns before the first frame of a push source.
    func prepareSwap(to host: VideoSourceHost) async throws(EngineError) {
        guard mainSlot.host != nil else { return try await start(host, in: mainSlot) }
        let before = mainTrack.entrance.expect(host.port)
        do throws(EngineError) { try await bringUp(host) } catch {
            mainTrack.entrance.forget(host.port, for: before)
            throw error
        }
    }

    private func firstFrame<Media>(
        of host: SourceHost<Media>, in slot: SourceSlot<Media>
    ) async throws(EngineError) {
        let once = Once<Bool>()
        slot.awaiting = (host.port, once)
        defer { slot.awaiting = nil }
        // The frame, or the end, may have come before.
        if slot.track.isListening(to: host.port) {
            once.resume(true)
        } else if host.port.hasEnded {
            once.resume(false)
        }
        let limit = configuration.firstFrameTimeout
        once.expire(after: limit, on: clock.timeline)
        let arrived = await once.value(isCancellable: true)
        guard arrived != true else { return }
        if arrived == nil, Task.isCancelled { throw EngineError.cancelled("the change of source") }
        if case .failed(let error) = host.port.takeEndings().last {
            throw EngineError(
                .sourceFailed, message: "\(host.typeName) failed before its first frame",
                underlying: error)
        }
        throw EngineError(
            .noFrame,
            message: arrived == nil
                ? "\(host.typeName) delivered no frame within \(limit)"
                : "\(host.typeName) ended without a frame",
            advice: "check what it captures; the previous source is still in use")
    }

    /// The new source has taken over: stops the old one and disposes of it.
    func finishSwap<Media>(
        from old: SourceHost<Media>, to host: SourceHost<Media>, in slot: SourceSlot<Media>
    ) async {
        let (hadFailed, hadStalled) = (slot.hasFailed, slot.watch.isStalled)
        slot.begin(host)
        limitSource(of: slot)
        slot.restarts.cancel()
        slot.endStall()
        hub.post(.sourceSwitched(slot.id))
        if hadStalled { hub.post(.sourceResumed(slot.id)) }
        if hadFailed { post(.capturing, of: slot) }
        checkEnding(of: slot)
        if old !== host { await tearDown(old) }
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
        guard let host = mainSlot.host else {
            throw EngineError(
                .invalidState, message: "no source is running",
                advice: "startPreview() or joinChannel(_:token:userID:) first")
        }
        mainSlot.restarts.cancel()
        try await restart(host, in: mainSlot, reopening: reopening)
    }

    private func restart<Media>(
        _ host: SourceHost<Media>, in slot: SourceSlot<Media>, reopening: Bool
    ) async throws(EngineError) {
        let wasDown = slot.hasFailed
        if reopening { await tearDown(host) } else { await stop(host) }
        slot.track.listen(to: host.port)
        (slot.hasEnded, slot.hasFailed) = (false, false)
        do throws(EngineError) {
            // If an earlier attempt has failed, the source must be initialised too.
            try await bringUp(host)
        } catch {
            slot.hasFailed = true
            if !wasDown { post(.failed, of: slot) }
            throw error
        }
        if wasDown, !slot.hasFailed { post(.capturing, of: slot) }
        checkEnding(of: slot)
    }

    /// Schedules the next attempt if the configuration has a restart policy. The delay doubles with
    /// each attempt.
    func restartLater<Media>(_ host: SourceHost<Media>, in slot: SourceSlot<Media>) {
        guard let policy = configuration.restart, slot.host === host,
            slot.restarts.timer == nil, !host.isGivenUp,
            let (attempt, delay) = slot.restarts.attempts.next(
                policy, at: clock.now, delivered: host.port.accepted)
        else { return }
        slot.restarts.number += 1
        let (number, id) = (slot.restarts.number, slot.id)
        slot.restarts.timer = OneShotTimer(after: delay, on: clock.timeline) { [weak self] in
            ControlTask.start { [weak self] in
                await self?.restart(number, attempt, host, of: id)
            }
        }
    }

    private func restart<Media: SourcedMedia>(
        _ number: Int, _ attempt: Int, _ host: SourceHost<Media>, of id: MediaTrackID
    ) async {
        do throws(EngineError) { try await enter() } catch { return }
        defer { leave() }
        // The source may have been stopped or replaced meanwhile.
        guard let slot = Media.slot(id, in: self), slot.restarts.number == number,
            slot.host === host
        else { return }
        slot.restarts.timer = nil
        hub.post(.sourceRestarting(id, attempt: attempt))
        slot.restarts.latest = clock.now
        slot.restarts.attempts.begin(at: clock.now, delivered: host.port.accepted)
        do throws(EngineError) {
            try await restart(host, in: slot, reopening: true)
        } catch {
            hub.post(.sourceFailed(id, error))
            restartLater(host, in: slot)
        }
    }
}
