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
        addAudio(to: &statistics)
        return statistics
    }

    private func addAudio(to statistics: inout EngineStatistics) {
        if audio.isEnabled {
            var local = EngineStatistics.LocalAudio()
            if let port = (audio.running ?? audio.external ?? audio.chosen)?.port {
                let reading = port.meter.now
                (local.delivered, local.deliveredSamples) = (reading.frames, reading.samples)
                local.format = reading.format
                local.dropped = port.drops.all
            }
            local.dropped = local.dropped + audioTrack.processing.drops.all
            local.samples = audioTrack.passed.now.samples
            local.corrections = audioTrack.corrections
            local.level = audioTrack.level.take()
            statistics.localAudio = local
        }
        statistics.remoteAudio = remote.audio.statistics
        for entry in audio.sinks.values {
            let feed = entry.seat.feed
            statistics.audioSinks[entry.seat.id] = EngineStatistics.AudioOutput(
                offered: feed.offered.now.frames, rendered: feed.rendered.now.frames,
                dropped: feed.drops.all)
        }
        statistics.playback = remote.audio.mixer.counts
        statistics.sentAudio = outgoingAudio.sent.now.frames
        statistics.unsentAudio = outgoingAudio.drops.all
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
