internal import MediaBasics
internal import MediaCore

extension MediaEngine {
    /// The current counts and rates. Rates cover the time since the statistics were last read, by
    /// any reader. After ``shutDown()`` they stay as they were at that time.
    public var statistics: EngineStatistics { statisticsNow() }

    func statisticsNow() -> EngineStatistics {
        if let finalStatistics { return finalStatistics }
        let now = clock.clockTime()
        var statistics = EngineStatistics()
        statistics.removed = removed
        for (id, slot) in slots { statistics.local[id] = counts(of: slot.track, id, now) }
        remote.addStatistics(to: &statistics, now: now)
        statistics.videoSinks = sinks.video.mapValues { $0.host.feed.counts(at: now) }
        statistics.outgoing = outgoing.balance
        statistics.channel = membership?.statistics
        addAudio(to: &statistics, now)
        return statistics
    }

    private func addAudio(to statistics: inout EngineStatistics, _ now: MediaTime) {
        let sources = audioTrack.sources
        let balance = sources.balance
        // Also reported for audio that was turned off, if there was any.
        if audio.isEnabled || balance.offered > 0 {
            var local = EngineStatistics.LocalAudio()
            let reading = sources.offered.now
            (local.deliveredSamples, local.format) = (reading.samples, reading.format)
            local.balance = balance
            local.dropped = balance.dropped + audioTrack.processing.drops.all
            local.sampleCount = audioTrack.passed.now.samples
            local.corrections = audioTrack.corrections
            local.level = audioTrack.level.take()
            statistics.localAudio = local
        }
        statistics.audioSinks = sinks.audio.mapValues { $0.host.feed.counts(at: now) }
        statistics.playback = remote.audio.mixer.counts
        statistics.outgoingAudio = outgoingAudio.balance
    }

    /// Reads the counts of stopped objects until every frame is counted, for a second at most: a
    /// delivering thread may be suspended between handing a frame on and counting its outcome.
    ///
    /// - Parameters:
    ///   - isStuck: Whether a receiver hangs in a call, so that its frame stays uncounted.
    ///   - waiting: Returns the number of frames that receivers hold.
    func complete<Counts>(
        unless isStuck: Bool, waiting: (Counts) -> Int, _ read: () -> Counts
    ) async -> Counts {
        await CountWatch.read(
            within: .seconds(1).asDefaultDeadline, on: clock.timeline,
            until: { isStuck || waiting($0) <= 0 }, read)
    }

    func counts(of track: LocalTrack, _ id: TrackID, _ now: MediaTime) -> EngineStatistics.Track {
        var counts = EngineStatistics.Track()
        // Read from the last stage of a frame's path to the first, so that no stage has more frames
        // than the one before it.
        counts.processing = track.processing.balances
        let captured = counts.processing[.capture] ?? FrameBalance()
        counts.encoding = track.encoded.balance
        counts.decoding = track.decoder.balance(of: track.decodedPictures.frames)
        let drops = track.sources.drops.all
        let carried = track.carriedUnits.frames
        counts.accepted = track.sources.delivered.frames
        counts.fallbackFrames = track.fallbacks.frames
        counts.delivered = track.sources.offered.frames
        counts.dropped = counts.processing.values.map(\.dropped).reduce(drops, +)
        counts.dropped = counts.dropped + counts.decoding.dropped
        counts.balance = FrameBalance(
            offered: counts.delivered + counts.fallbackFrames + counts.decoding.offered,
            delivered: captured.delivered + carried,
            dropped: captured.dropped + drops + counts.decoding.dropped)
        counts.frameRate = track.passed.rate(at: now)
        counts.size = track.passed.lastSize
        let bytesPerSecond = track.bytes.rate(at: now)
        counts.bitRate = track.bytes.frames > 0 ? Int(bytesPerSecond * 8) : nil
        return counts
    }
}

extension EngineStatistics {
    /// The number of frames that receivers hold.
    var waiting: Int {
        videoSinks.values.map(\.balance.waiting).reduce(0, +)
            + audioSinks.values.map(\.balance.waiting).reduce(0, +)
            + local.values.map(\.balance.waiting).reduce(0, +)
            + remote.values.flatMap(\.values).map(\.decoding.waiting).reduce(0, +)
            + removed.remote.latest.values.map(\.decoding.waiting).reduce(0, +)
            + (localAudio?.balance.waiting ?? 0) + outgoing.waiting + outgoingAudio.waiting
    }
}
