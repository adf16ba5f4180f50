internal import MediaBasics
internal import MediaCore

// Periodic checks, and reactions to source events.
extension MediaEngine {
    private static let beat = Duration.milliseconds(100)

    func startHeartbeat() {
        guard heartbeat == nil else { return }
        lastStatistics = clock.clockTime()
        heartbeat = Heartbeat(every: Self.beat, on: executor.queue, of: clock.timeline) {
            [weak self] in
            self?.assumeIsolated { $0.look() }
        }
    }

    func stopHeartbeat() {
        heartbeat?.cancel()
        heartbeat = nil
    }

    private func look() {
        let now = clock.clockTime()
        let limit = MediaTime(configuration.stallTimeout)
        watchSource(limit)
        watchAudio(limit)
        watchAudioSinks(now, limit)
        for slot in slots.values { slot.track.processing.check(now: now, limit: limit) }
        for entry in renderers.values {
            let id = entry.host.id
            for change in entry.host.feed.check(now: now, limit: limit) {
                hub.post(change == .stalled ? .rendererStalled(id) : .rendererResumed(id))
            }
        }
        if now - lastJitter >= MediaTime(seconds: 1) {
            lastJitter = now
            remote.noteJitter()
        }
        guard let interval = configuration.statisticsInterval else { return }
        if now - lastStatistics >= MediaTime(interval) {
            lastStatistics = now
            hub.post(.statistics(statisticsNow()))
        }
    }

    // MARK: Silence

    /// Checks only the main track: a program that pushes to custom tracks knows when it stops
    /// pushing.
    private func watchSource(_ limit: MediaTime) {
        guard let slot = slots[.main], let host = slot.host, !slot.hasEnded else { return }
        let arrivals = slot.track.arrivals.load(ordering: .relaxed)
        let since = slot.track.silentSince
        let now = clock.now
        for change in slots[.main]?.watch.look(since: since, now: now, limit: limit) ?? [] {
            switch change {
            case .resumed:
                endFallback(.main)
                hub.post(.sourceResumed(.main))
            case .stalled:
                hub.post(.sourceStalled(.main, (now - (since ?? now)).duration))
                startFallback(insteadOf: host.port, after: arrivals)
            }
        }
    }

    /// Ends the stall when another source has taken over.
    func noteResumed(_ id: TrackID) {
        guard slots[id]?.watch.isStalled == true else { return }
        endStall(id)
        hub.post(.sourceResumed(id))
    }

    func endStall(_ id: TrackID) {
        slots[id]?.watch.reset()
        endFallback(id)
    }

    private func endFallback(_ id: TrackID) {
        slots[id]?.fallback?.cancel()
        slots[id]?.fallback = nil
    }

    /// Sends fallback frames until the source delivers again. Not used if time comes only from the
    /// sources, because two runs over the same input must give the same output.
    private func startFallback(insteadOf port: VideoSourcePort, after arrivals: Int) {
        let still: PixelBuffer?
        switch configuration.fallback {
        case _ where clock.isOffline: return
        case .nothing: return
        case .lastPicture: still = nil
        case .still(let picture): still = picture
        }
        let track = mainTrack
        let interval = max(track.frameInterval.duration, .milliseconds(20))
        slots[.main]?.fallback = Heartbeat(every: interval, on: fallbackQueue, of: clock.timeline) {
            track.sendFallback(still, insteadOf: port, after: arrivals)
        }
    }

    // MARK: Source events

    func handle(_ event: LocalTrack.SourceEvent, of id: TrackID) {
        switch event {
        case .ended(let port):
            if slots[id]?.host?.port === port { return checkEnding(of: id) }
            // The source was expected to take over; it no longer can.
            if let awaiting = slots[id]?.awaiting, awaiting.port === port {
                awaiting.once.resume(false)
            }
        case .tookOver(let port):
            if let awaiting = slots[id]?.awaiting, awaiting.port === port {
                awaiting.once.resume(true)
            } else {
                ControlTask.start { await self.tookOver(port) }
            }
        case .keyFrameNeeded:
            guard let host = slots[id]?.host else { return }
            ControlTask.start { await host.requestKeyFrame() }
        case .limitChanged(let limit):
            slots[id]?.limit = limit
            limitSource(of: id)
        }
    }

    /// Passes the channel's limit for a track to the track's source.
    func limitSource(of id: TrackID) {
        guard let slot = slots[id], slot.limit != VideoLimit() || slot.kept != VideoLimit() else {
            return
        }
        ControlTask.start { await self.limitSourceNow(of: id) }
    }

    private func limitSourceNow(of id: TrackID) async {
        guard let slot = slots[id], let host = slot.host,
            let kept = await host.adapt(to: slot.limit), slots[id]?.host === host,
            slots[id]?.kept != kept
        else { return }
        slots[id]?.kept = kept
        hub.post(.sourceLimited(id, kept))
    }

    /// A push source, for which no operation waits, has taken over with its first frame.
    private func tookOver(_ port: VideoSourcePort) async {
        do throws(EngineError) { try await enter() } catch { return }
        defer { leave() }
        guard let host = pushHost, host.port === port, let old = slots[.main]?.host,
            old !== host, mainTrack.isListening(to: port)
        else { return }
        await finishSwap(from: old, to: host)
    }

    /// Handles the end of the running source, once.
    func checkEnding(of id: TrackID) {
        guard let host = slots[id]?.host else { return }
        for ending in host.port.takeEndings() {
            switch ending {
            case .ended:
                slots[id]?.hasEnded = true
                hub.post(.sourceEnded(id))
            case .failed(let error):
                slots[id]?.hasFailed = true
                // The source delivers no frames, and that was reported.
                slots[id]?.hasEnded = configuration.restart == nil
                hub.post(
                    .sourceFailed(
                        id,
                        EngineError(
                            .sourceFailed, message: "\(host.typeName) failed", underlying: error)))
                if id == .main { hub.post(.localVideoState(.failed)) }
                restartLater(host, id)
            }
        }
    }
}
