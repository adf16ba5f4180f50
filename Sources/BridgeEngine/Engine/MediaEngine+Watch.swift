internal import MediaCore

// What the engine does by itself while it runs.
extension MediaEngine {
    private static let beat = Duration.milliseconds(100)

    func startHeartbeat() {
        guard heartbeat == nil else { return }
        lastStatistics = clock.clockTime()
        heartbeat = Heartbeat(every: Self.beat, on: lane.queue) { [weak self] in
            self?.assumeIsolated { $0.look() }
        }
    }

    func stopHeartbeat() {
        heartbeat?.cancel()
        heartbeat = nil
    }

    private func look() {
        let now = clock.clockTime()
        let limit = MediaTime(configuration.stallLimit)
        for id in slots.keys { watch(id, limit) }
        for slot in slots.values { slot.track.check(now: now, limit: limit) }
        for entry in renderers.values {
            switch entry.seat.feed.check(now: now, limit: limit) {
            case .stalled: hub.post(.rendererStalled(entry.seat.id))
            case .resumed: hub.post(.rendererResumed(entry.seat.id))
            case nil: break
            }
        }
        guard let interval = configuration.statisticsInterval else { return }
        if now - lastStatistics >= MediaTime(interval) {
            lastStatistics = now
            hub.post(.statistics(statisticsNow()))
        }
    }

    private func watch(_ id: TrackID, _ limit: MediaTime) {
        guard let slot = slots[id], let seat = slot.seat, !slot.hasEnded, id == .main else {
            return
        }
        let silence = slot.track.silence(now: clock.now)
        if silence > limit, !slot.isStalled {
            slots[id]?.isStalled = true
            hub.post(.sourceStalled(silence.duration))
            startFallback(id, insteadOf: seat.port)
        } else if silence <= limit, slot.isStalled {
            slots[id]?.isStalled = false
            slots[id]?.fallback?.cancel()
            slots[id]?.fallback = nil
            hub.post(.sourceResumed)
        }
    }

    /// From here until the source comes back.
    private func startFallback(_ id: TrackID, insteadOf port: SourcePort) {
        let still: PixelBuffer?
        switch configuration.fallback {
        case .nothing: return
        case .lastPicture: still = nil
        case .still(let picture): still = picture
        }
        guard let track = slots[id]?.track else { return }
        let interval = max(track.frameInterval.duration, .milliseconds(20))
        slots[id]?.fallback = Heartbeat(every: interval, on: fallbackQueue) {
            track.sendFallback(still, insteadOf: port)
        }
    }

    // MARK: News of the sources

    func heard(_ news: LocalTrack.SourceNews, of id: TrackID) async {
        switch news {
        case .firstFrame(let port): await tookOver(port, id)
        case .ended(let port):
            guard let seat = slots[id]?.seat, seat.port === port else { return }
            slots[id]?.hasEnded = true
            hub.post(.sourceEnded)
        case .failed(let port, let error):
            guard let seat = slots[id]?.seat, seat.port === port else { return }
            slots[id]?.hasEnded = configuration.restart == nil
            hub.post(
                .sourceFailed(
                    EngineError(
                        .sourceFailed, message: "\(seat.typeName) failed", underlying: error)))
            hub.post(.localVideoState(.failed))
            restartLater(seat, id)
        }
    }

    /// A source that nobody waited for has taken over with its first frame.
    private func tookOver(_ port: SourcePort, _ id: TrackID) async {
        if let awaiting = slots[id]?.awaiting, awaiting.port === port {
            awaiting.once.resume(true)
            return
        }
        do throws(EngineError) { try await enter() } catch { return }
        defer { leave() }
        guard id == .main, let seat = pushSeat, seat.port === port, slots[id]?.seat !== seat else {
            return
        }
        await finishSwap(from: slots[id]?.seat, to: seat)
    }

    private func restartLater(_ seat: SourceSeat, _ id: TrackID) {
        guard let policy = configuration.restart, restarting == nil else { return }
        restarting = Task { [weak self] in
            var (delay, attempt) = (policy.delay, 1)
            while policy.attempts.map({ attempt <= $0 }) ?? true {
                do { try await Task.sleep(for: delay) } catch { return }
                guard let isDone = await self?.attempt(attempt, seat, id), !isDone else { return }
                delay = min(delay * 2, policy.longestDelay)
                attempt += 1
            }
            await self?.giveUpRestarting()
        }
    }

    /// - Returns: True where no further attempt is to be made.
    private func attempt(_ number: Int, _ seat: SourceSeat, _ id: TrackID) async -> Bool {
        do throws(EngineError) { try await enter() } catch { return true }
        defer { leave() }
        guard !Task.isCancelled, slots[id]?.seat === seat else {
            restarting = nil
            return true
        }
        hub.post(.sourceRestarting(attempt: number))
        do throws(EngineError) {
            try await restart(seat, id, reopening: true)
            restarting = nil
            hub.post(.localVideoState(.capturing))
            return true
        } catch {
            hub.post(.sourceFailed(error))
            if seat.isGivenUp { restarting = nil }
            return seat.isGivenUp
        }
    }

    private func giveUpRestarting() { restarting = nil }
}
