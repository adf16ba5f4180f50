internal import MediaBasics
internal import MediaCore

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
