public import MediaCore

extension MediaEngine {
    /// Replaces the sink of the engine's own audio; `nil` removes it. Sinks that were added stay.
    ///
    /// - Throws: ``EngineError`` if the audio runs already and the sink does not start, or
    ///   ``EngineError/Code/invalidArgument`` if the object is another sink of this engine; the
    ///   sink is not kept then.
    public func setLocalAudioSink(
        _ sink: sending (any AudioSink)?
    ) async throws(EngineError) {
        try await setAudioSink(sink, for: .local)
    }

    /// Replaces the sink of a user's audio; `nil` removes it. The user need not be in the channel
    /// yet: a sink that is set before joining misses nothing.
    ///
    /// - Throws: As for ``setLocalAudioSink(_:)``.
    public func setRemoteAudioSink(
        _ sink: sending (any AudioSink)?, forUserID user: UserID
    ) async throws(EngineError) {
        try await setAudioSink(sink, for: .remote(user))
    }

    /// Replaces the sink that plays the mix of all users, in blocks of 10 ms; `nil` removes it.
    ///
    /// ```swift
    /// try await engine.setPlaybackAudioSink(PipelineAudioSink("autoaudiosink"))
    /// ```
    ///
    /// - Throws: As for ``setLocalAudioSink(_:)``.
    public func setPlaybackAudioSink(
        _ sink: sending (any AudioSink)?
    ) async throws(EngineError) {
        try await setAudioSink(sink, for: .playback)
    }

    /// Adds a sink to a stream. A stream may have any number of sinks.
    ///
    /// - Returns: The id of the sink in this engine.
    /// - Throws: As for ``setLocalAudioSink(_:)``.
    @discardableResult
    public func addAudioSink(
        _ sink: sending any AudioSink, to stream: AudioStreamID
    ) async throws(EngineError) -> AudioSinkID {
        let host = makeAudioSinkHost(sink)
        try await enter()
        defer { leave() }
        try await add(AudioSinkEntry(host: host, stream: stream, isMain: false))
        return host.id
    }

    /// Returns the sink with this id, for ``AudioSinkReference/perform(_:)``; `nil` if there is
    /// none.
    public func audioSink(_ id: AudioSinkID) -> AudioSinkReference? {
        audio.sinks[id].map { AudioSinkReference(host: $0.host) }
    }

    /// Removes a sink: its queued frames are rendered, then it is stopped and disposed of.
    ///
    /// - Throws: ``EngineError/Code/invalidArgument`` if there is no such sink.
    public func removeAudioSink(_ id: AudioSinkID) async throws(EngineError) {
        try await enter()
        defer { leave() }
        guard let entry = audio.sinks[id] else {
            throw EngineError(.invalidArgument, message: "there is no \(id)")
        }
        await remove(entry)
    }

    // MARK: Internal

    private func makeAudioSinkHost(_ sink: sending any AudioSink) -> AudioSinkHost {
        audio.sinkNumber += 1
        return AudioSinkHost(
            sink, id: AudioSinkID(number: audio.sinkNumber),
            converter: backend.makeAudioConverter(), clock: clock,
            patience: configuration.patience, trace: transitions, events: hub)
    }

    private func setAudioSink(
        _ sink: sending (any AudioSink)?, for stream: AudioStreamID
    ) async throws(EngineError) {
        let next: AudioSinkHost?
        if let sink { next = makeAudioSinkHost(sink) } else { next = nil }
        try await enter()
        defer { leave() }
        let old = audio.sinks.values.first { $0.isMain && $0.stream == stream }
        if let next, next.identity == old?.host.identity {
            hub.post(.warning("\(next.typeName) is that sink already; nothing changes"))
            return
        }
        if let next { try await add(AudioSinkEntry(host: next, stream: stream, isMain: true)) }
        if let old { await remove(old) }
    }

    private func add(_ entry: AudioSinkEntry) async throws(EngineError) {
        // An object may have only one host.
        if let place = audio.sinks.values.first(where: { $0.host.identity == entry.host.identity })
        {
            throw EngineError(
                .invalidArgument,
                message: "\(entry.host.typeName) is \(place.host.id) of this engine already",
                advice: "take it away from there first")
        }
        try refuseOverdue(entry.host)
        if runs(entry.stream) {
            try await bringUp(entry.host)
            attach(entry)
        }
        audio.sinks[entry.host.id] = entry
        updatePlayback()
    }

    private func remove(_ entry: AudioSinkEntry) async {
        audio.sinks[entry.host.id] = nil
        detach(entry)
        await takeDown(entry.host)
        let counts = await complete(unless: entry.host.isGivenUp) {
            EngineStatistics.AudioOutput(balance: entry.host.feed.balance)
        }
        gone.audioSinks.add(entry.host.id, counts)
        updatePlayback()
    }

    /// Returns whether sinks of this stream must run now.
    private func runs(_ stream: AudioStreamID) -> Bool {
        stream.isLocal ? !holds.isEmpty : membership != nil || joining != nil
    }

    /// Starts the sinks whose stream starts to run, in parallel. Errors are posted as events.
    func bringUpAudioSinks(_ isWanted: (AudioStreamID) -> Bool) async {
        let entries = audio.sinks.values.filter { isWanted($0.stream) }
        await withTaskGroup { group in
            for entry in entries { group.addTask { await self.start(entry) } }
        }
        updatePlayback()
    }

    private func start(_ entry: AudioSinkEntry) async {
        do throws(EngineError) {
            try await bringUp(entry.host)
            attach(entry)
        } catch {
            detach(entry)
            hub.post(.audioSinkFailed(entry.host.id, error))
        }
    }

    /// Stops sinks in parallel.
    func takeDownAudioSinks(_ isMeant: (AudioStreamID) -> Bool) async {
        let hosts = audio.sinks.values.filter { isMeant($0.stream) }.map(\.host)
        await withTaskGroup { group in
            for host in hosts { group.addTask { await self.takeDown(host) } }
        }
        updatePlayback()
    }

    private func takeDown(_ host: AudioSinkHost) async {
        host.feed.close()
        await tolerate(host, .stop)
        await tolerate(host, .dispose)
    }

    private func attach(_ entry: AudioSinkEntry) {
        switch entry.stream {
        case .local: audioTrack.local.attach(entry.host.feed)
        case .remote(let user): remote.audio.attach(entry.host.feed, to: user)
        case .playback: mixed.attach(entry.host.feed)
        }
    }

    private func detach(_ entry: AudioSinkEntry) {
        switch entry.stream {
        case .local: audioTrack.local.detach(entry.host.feed)
        case .remote(let user): remote.audio.detach(entry.host.feed, from: user)
        case .playback: mixed.detach(entry.host.feed)
        }
    }
}

/// A reference to an audio sink that the engine owns.
public struct AudioSinkReference: Sendable {
    let host: AudioSinkHost

    /// The id of the sink in its engine.
    public var id: AudioSinkID { host.id }

    /// Returns whether the reference is to this object.
    public func refers(to sink: any AudioSink) -> Bool { ObjectIdentifier(sink) == host.identity }

    /// Runs `body` with the sink, on the only thread that calls the sink, between two frames.
    public func perform<R: Sendable>(
        _ body: @Sendable (any AudioSink) throws -> R
    ) async rethrows -> R {
        try await host.perform(body)
    }
}
