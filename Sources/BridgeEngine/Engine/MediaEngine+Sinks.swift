internal import MediaCore

// Adding, removing, starting and stopping renderers and audio sinks.
extension MediaEngine {
    /// Replaces the main sink of a stream; `nil` removes it.
    func setSink<Media: StreamedSink>(
        _ next: SinkHost<Media>?, for stream: Media.Stream
    ) async throws(EngineError) {
        try await enter()
        defer { leave() }
        let old = mainSink(of: stream, Media.self)
        if let next, next.identity == old?.host.identity {
            hub.post(.warning("\(next.typeName) is already that \(Media.noun); nothing changed"))
            return
        }
        if let next { try await add(SinkEntry(host: next, stream: stream, isMain: true)) }
        if let old { await remove(old) }
    }

    func mainSink<Media: StreamedSink>(
        of stream: Media.Stream, _: Media.Type
    ) -> SinkEntry<Media>? {
        Media.sinks(of: self).values.first { $0.isMain && $0.stream == stream }
    }

    func addSink<Media: StreamedSink>(
        _ host: SinkHost<Media>, to stream: Media.Stream
    ) async throws(EngineError) -> Media.ID {
        try await enter()
        defer { leave() }
        try await add(SinkEntry(host: host, stream: stream, isMain: false))
        return host.id
    }

    func removeSink<Media: StreamedSink>(
        _ id: Media.ID, _: Media.Type
    ) async throws(EngineError) {
        try await enter()
        defer { leave() }
        guard let entry = Media.sinks(of: self)[id] else {
            throw EngineError(.invalidArgument, message: "\(id) not found")
        }
        await remove(entry)
    }

    private func add<Media>(_ entry: SinkEntry<Media>) async throws(EngineError) {
        guard Media.exists(entry.stream, in: self) else {
            throw EngineError(.invalidArgument, message: "stream not found: \(entry.stream)")
        }
        // An object may have only one host.
        let identity = entry.host.identity
        if let place = Media.sinks(of: self).values.first(where: { $0.host.identity == identity }) {
            throw EngineError(
                .invalidArgument,
                message: "\(entry.host.typeName) is already \(place.host.id) of this engine",
                advice: "remove it there first")
        }
        try refuseOverdue(entry.host)
        // Whether sinks of this stream must run now.
        let runs =
            entry.stream.isLocal ? !holds.isEmpty : membership != nil || joining != nil
        if runs { try await bringUp(entry.host) }
        Media.set(entry, at: entry.host.id, in: self)
        if runs { Media.attach(entry, in: self) }
        updatePlayback()
    }

    func remove<Media>(_ entry: SinkEntry<Media>) async {
        let host = entry.host
        Media.set(nil, at: host.id, in: self)
        Media.detach(entry, in: self)
        await takeDown(host)
        let counts = await complete(unless: host.isGivenUp) {
            Media.counts(of: host.feed, now: clock.clockTime())
        }
        Media.keep(counts, of: host.id, in: self)
        updatePlayback()
    }

    // MARK: Starting and stopping in parallel

    /// Starts the sinks whose stream starts to run, in parallel, so that one that hangs does not
    /// delay the others. Errors are posted as events.
    func bringUpSinks<Media: StreamedSink>(
        _: Media.Type, where isWanted: (Media.Stream) -> Bool
    ) async {
        let entries = Media.sinks(of: self).values.filter { isWanted($0.stream) }
        await withTaskGroup { group in
            for entry in entries { group.addTask { await self.start(entry) } }
        }
        updatePlayback()
    }

    private func start<Media>(_ entry: SinkEntry<Media>) async {
        do throws(EngineError) {
            try await bringUp(entry.host)
            Media.attach(entry, in: self)
        } catch {
            Media.detach(entry, in: self)
            hub.post(Media.failed(entry.host.id, error))
        }
    }

    /// Stops sinks in parallel.
    func takeDownSinks<Media: StreamedSink>(
        _: Media.Type, where isMeant: (Media.Stream) -> Bool
    ) async {
        let hosts = Media.sinks(of: self).values.filter { isMeant($0.stream) }.map(\.host)
        await withTaskGroup { group in
            for host in hosts { group.addTask { await self.takeDown(host) } }
        }
        updatePlayback()
    }

    /// Renders the queued frames, stops a sink and disposes of it. Errors are posted as events.
    private func takeDown<Media>(_ host: SinkHost<Media>) async {
        host.feed.close()
        await tolerate(host, .stop)
        await tolerate(host, .dispose)
    }
}
