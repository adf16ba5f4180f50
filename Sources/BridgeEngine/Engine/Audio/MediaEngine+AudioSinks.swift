public import MediaCore

extension MediaEngine {
    /// Replaces the sink of the engine's own sound; `nil` takes it away. Others that were added stay.
    ///
    /// - Throws: ``EngineError`` where the sound runs already and the sink does not start; it is not kept
    ///   then.
    public func setLocalAudioSink(
        _ sink: sending (any AudioSink)?
    ) async throws(EngineError) {
        try await setAudioSink(sink, for: .local)
    }

    /// Replaces the sink of a user's sound; `nil` takes it away. The user need not be there yet: what is
    /// set before joining misses nothing.
    public func setRemoteAudioSink(
        _ sink: sending (any AudioSink)?, forUserID user: UserID
    ) async throws(EngineError) {
        try await setAudioSink(sink, for: .remote(user))
    }

    /// Replaces the sink that plays all users, mixed in blocks of 10 ms; `nil` takes it away.
    ///
    /// ```swift
    /// try await engine.setPlaybackAudioSink(PipelineAudioSink("autoaudiosink"))
    /// ```
    public func setPlaybackAudioSink(
        _ sink: sending (any AudioSink)?
    ) async throws(EngineError) {
        try await setAudioSink(sink, for: .playback)
    }

    /// Adds a sink to a stream; any number may hear the same.
    @discardableResult
    public func addAudioSink(
        _ sink: sending any AudioSink, to stream: AudioStreamID
    ) async throws(EngineError) -> AudioSinkID {
        let host = makeAudioSinkSeat(sink)
        try await enter()
        defer { leave() }
        try await add(AudioSinkEntry(host: host, stream: stream, isMain: false))
        return host.id
    }

    /// A sink by its id, to reach it (``AudioSinkReference/perform(_:)``); `nil` for one that is not there.
    public func audioSink(_ id: AudioSinkID) -> AudioSinkReference? {
        audio.sinks[id].map { AudioSinkReference(host: $0.host) }
    }

    /// Takes a sink away: what it was given is rendered, then it is stopped and disposed of.
    public func removeAudioSink(_ id: AudioSinkID) async throws(EngineError) {
        try await enter()
        defer { leave() }
        guard let entry = audio.sinks[id] else {
            throw EngineError(.invalidArgument, message: "there is no \(id)")
        }
        await remove(entry)
    }

    // MARK: Inside

    private func makeAudioSinkSeat(_ sink: sending any AudioSink) -> AudioSinkHost {
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
        if let sink { next = makeAudioSinkSeat(sink) } else { next = nil }
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
        // One object is called from one place.
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
        gone.audioSinks.add(
            entry.host.id, EngineStatistics.AudioOutput(balance: entry.host.feed.balance))
        updatePlayback()
    }

    /// Whether sinks of this stream are to run now.
    private func runs(_ stream: AudioStreamID) -> Bool {
        stream.isLocal ? !holds.isEmpty : membership != nil || joining != nil
    }

    /// Starts the sinks that waited for their stream to run, side by side. What goes wrong is an event.
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

    /// Stops sinks side by side.
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

/// A sink of sound that the engine holds.
public struct AudioSinkReference: Sendable {
    let host: AudioSinkHost

    public var id: AudioSinkID { host.id }

    /// Whether it is this object.
    public func refers(to sink: any AudioSink) -> Bool { ObjectIdentifier(sink) == host.identity }

    /// Runs `body` with the sink, on the one thread that calls it, between two frames.
    public func perform<R: Sendable>(
        _ body: @Sendable (any AudioSink) throws -> R
    ) async rethrows -> R {
        try await host.perform(body)
    }
}
