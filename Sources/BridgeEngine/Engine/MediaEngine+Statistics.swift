internal import MediaCore

extension MediaEngine {
    /// The counts and rates now. Rates are over the time since the statistics before, whoever asked.
    public var statistics: EngineStatistics { statisticsNow() }

    func statisticsNow() -> EngineStatistics {
        let now = clock.clockTime()
        var statistics = EngineStatistics()
        for (id, slot) in slots { statistics.local[id] = local(slot, id, now) }
        statistics.remote = remote.statistics(now: now)
        for entry in renderers.values {
            statistics.renderers[entry.seat.id] = entry.seat.feed.statistics(now: now)
        }
        statistics.sent = outgoing.sent.frames
        statistics.unsent = outgoing.drops.all
        return statistics
    }

    private func local(
        _ slot: TrackSlot, _ id: TrackID, _ now: MediaTime
    ) -> EngineStatistics.Track {
        var track = EngineStatistics.Track()
        if let port = (slot.seat ?? chosenSeat(id))?.port {
            track.delivered = port.delivered.frames
            track.accepted = port.accepted
            track.dropped = port.drops.all
        }
        track.dropped = track.dropped + slot.track.processing.drops.all
        track.frameRate = slot.track.passed.rate(at: now)
        track.size = slot.track.passed.lastSize
        track.fallbackFrames = slot.track.fallbacks.frames
        track.bitRate = pushes[id]?.bitRate(at: now)
        track.dropped[.undecodable] += pushes[id]?.lostUnits ?? 0
        return track
    }

    private func chosenSeat(_ id: TrackID) -> SourceSeat? {
        id == .main ? pushSeat ?? chosen : slots[id]?.pushSeat
    }
}
