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
        // A program that pushes to custom tracks knows when it stops pushing.
        watch(mainSlot, limit)
        watch(audioSlot, limit)
        for slot in slots.values { slot.track.processing.check(now: now, limit: limit) }
        for entry in sinks.video.values { watch(entry.host, now, limit) }
        for entry in sinks.audio.values { watch(entry.host, now, limit) }
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

    /// Checks whether a sink is busy with one frame for too long.
    private func watch<Media>(_ host: SinkHost<Media>, _ now: MediaTime, _ limit: MediaTime) {
        for change in host.feed.busy.check(now: now, limit: limit) {
            hub.post(change == .stalled ? .sinkStalled(host.id) : .sinkResumed(host.id))
        }
    }

    // MARK: Silence

    /// Checks whether frames arrive.
    private func watch<Media>(_ slot: SourceSlot<Media>, _ limit: MediaTime) {
        guard let host = slot.host, !slot.hasEnded else { return }
        let arrivals = slot.track.entrance.arrivals
        let since = slot.track.entrance.silentSince
        let now = clock.now
        for change in slot.watch.look(since: since, now: now, limit: limit) {
            switch change {
            case .resumed:
                slot.endFallback()
                hub.post(.sourceResumed(slot.id))
            case .stalled:
                hub.post(.sourceStalled(slot.id, (now - (since ?? now)).duration))
                if let port = host.port as? VideoSourcePort {
                    startFallback(insteadOf: port, after: arrivals)
                }
            }
        }
        guard configuration.restart != nil, host.port.isLive, !slot.hasFailed, let since,
            now - max(since, slot.restarts.latest) >= Self.restartSilence
        else { return }
        fail(host, in: slot, "\(host.typeName) has delivered nothing for ten seconds")
    }

    /// How long a live source that may be restarted is silent before it is.
    private static let restartSilence = MediaTime(seconds: 10)

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
        mainSlot.fallback = Heartbeat(every: interval, on: fallbackQueue, of: clock.timeline) {
            track.sendFallback(still, insteadOf: port, after: arrivals)
        }
    }

    // MARK: Source events

    func handle<Media: SourcedMedia>(_ event: SourceEvent<Media>, of id: MediaTrackID) {
        guard let slot = Media.slot(id, in: self) else { return }
        switch event {
        case .ended(let port):
            if slot.host?.port === port { return checkEnding(of: slot) }
            // The source was expected to take over; it no longer can.
            if let awaiting = slot.awaiting, awaiting.port === port { awaiting.once.resume(false) }
        case .becameActive(let port):
            if let awaiting = slot.awaiting, awaiting.port === port {
                awaiting.once.resume(true)
            } else {
                ControlTask.start { await self.becameActive(port, of: id) }
            }
        case .keyFrameNeeded:
            guard let host = slot.host else { return }
            ControlTask.start { await host.requestKeyFrame() }
        case .limitChanged(let limit):
            slot.limit = limit
            limitSource(of: slot)
        }
    }

    /// Passes the channel's limit for a track to the track's source.
    func limitSource<Media>(of slot: SourceSlot<Media>) {
        guard case .video(let track) = slot.id,
            slot.limit != VideoLimit() || slot.kept != VideoLimit()
        else { return }
        ControlTask.start { await self.limitSource(of: track) }
    }

    private func limitSource(of track: TrackID) async {
        guard let slot = slots[track], let host = slot.host,
            let kept = await host.adapt(to: slot.limit), slot.host === host, slot.kept != kept
        else { return }
        slot.kept = kept
        hub.post(.sourceLimited(track, kept))
    }

    /// A push source, for which no operation waits, has taken over with its first frame.
    private func becameActive<Media: SourcedMedia>(
        _ port: SourcePort<Media>, of id: MediaTrackID
    ) async {
        do throws(EngineError) { try await enter() } catch { return }
        defer { leave() }
        guard let slot = Media.slot(id, in: self), let host = slot.pushHost, host.port === port,
            let old = slot.host, old !== host, slot.track.isListening(to: port)
        else { return }
        await finishSwap(from: old, to: host, in: slot)
    }

    /// Handles the end of the running source, once. Also called directly after a start, because a
    /// short source may have ended before the start returned.
    func checkEnding<Media>(of slot: SourceSlot<Media>) {
        guard let host = slot.host else { return }
        for ending in host.port.takeEndings() {
            switch ending {
            case .ended where configuration.restart != nil && host.port.isLive:
                fail(host, in: slot, "\(host.typeName) has ended although it is live")
            case .ended:
                slot.hasEnded = true
                let id = slot.id
                slot.endReport = ControlTask.start { await self.reportEnd(of: id, Media.self) }
            case .failed(let error):
                fail(host, in: slot, "\(host.typeName) failed", underlying: error)
            }
        }
    }

    /// Reports that a source has ended, once its sinks have rendered its last frame: a program may then stop a
    /// recording. A sink that hangs delays the report by the limit of a call.
    private func reportEnd<Media: SourcedMedia>(of id: MediaTrackID, _: Media.Type) async {
        guard let slot = Media.slot(id, in: self) else { return }
        await slot.track.settled(within: configuration.callTimeout)
        let hosts = sinks[keyPath: Media.table].values.filter { $0.stream.isLocal }.map(\.host)
        let (limit, timeline) = (configuration.callTimeout, clock.timeline)
        await withTaskGroup { group in
            for host in hosts {
                group.addTask {
                    await host.executor.queue.outcome(within: limit, on: timeline) {
                        host.feed.drain()
                    }
                }
            }
        }
        hub.post(.sourceEnded(id))
    }

    /// Reports that a source has failed, and restarts it if that is configured.
    private func fail<Media>(
        _ host: SourceHost<Media>, in slot: SourceSlot<Media>, _ message: String,
        underlying: (any Error)? = nil
    ) {
        slot.hasFailed = true
        // The source delivers no frames, and that was reported.
        slot.hasEnded = configuration.restart == nil
        let error = EngineError(.sourceFailed, message: message, underlying: underlying)
        hub.post(.sourceFailed(slot.id, error))
        post(.failed, of: slot)
        restartLater(host, in: slot)
    }
}
