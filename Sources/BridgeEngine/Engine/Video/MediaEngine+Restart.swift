internal import MediaBasics
internal import MediaCore

// Starting a source again: because the program asks for it, or because the source failed.
extension MediaEngine {
    /// Starts the source again, without letting go of the holds.
    ///
    /// - Parameter reopening: Whether it is disposed of and initialised anew, or stopped and started.
    /// - Throws: ``EngineError/Code/invalidState`` where none runs, or why it does not start; it may be
    ///   tried again.
    public func restartVideoSource(reopening: Bool = false) async throws(EngineError) {
        try await enter()
        defer { leave() }
        guard let host = slots[.main]?.host else {
            throw EngineError(
                .invalidState, message: "no source runs",
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
            // Where an attempt before has failed there is more to do than to start it.
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

    /// After a pause that doubles with each attempt, where the configuration says so.
    func restartLater(_ host: VideoSourceHost, _ id: TrackID) {
        guard let policy = configuration.restart, let slot = slots[id], slot.host === host,
            slot.restarts.timer == nil, !host.isGivenUp
        else { return }
        let done = hasRecovered(host, slot.restarts, policy) ? 0 : slot.restarts.attempts
        guard policy.attempts.map({ done < $0 }) ?? true else { return }
        let number = slot.restarts.number + 1
        let delay = min(policy.delay * (1 << min(done, 20)), policy.longestDelay)
        slots[id]?.restarts.attempts = done + 1
        slots[id]?.restarts.number = number
        slots[id]?.restarts.timer = OneShotTimer(after: delay) { [weak self] in
            ControlTask.start { [weak self] in
                await self?.attempt(number, done + 1, host, id)
            }
        }
    }

    /// Whether a source that failed had delivered for a while since it was started again: one that fails
    /// after ten frames each time is not back.
    private func hasRecovered(
        _ host: VideoSourceHost, _ restarts: TrackSlot.Restarts, _ policy: Configuration.Restart
    ) -> Bool {
        guard let resumed = restarts.resumed else { return false }
        return host.port.accepted > resumed.frames
            && clock.now - resumed.at >= MediaTime(policy.recoveryTime)
    }

    private func attempt(
        _ number: Int, _ attempt: Int, _ host: VideoSourceHost, _ id: TrackID
    ) async {
        do throws(EngineError) { try await enter() } catch { return }
        defer { leave() }
        // It may have been stopped or replaced meanwhile.
        guard let slot = slots[id], slot.restarts.number == number, slot.host === host else {
            return
        }
        slots[id]?.restarts.timer = nil
        hub.post(.sourceRestarting(attempt: attempt))
        slots[id]?.restarts.resumed = (clock.now, host.port.accepted)
        do throws(EngineError) {
            try await restart(host, id, reopening: true)
        } catch {
            hub.post(.sourceFailed(error))
            restartLater(host, id)
        }
    }
}
