public import MediaCore

extension MediaEngine {
    /// Adds a video sink to a stream. A stream may have any number of sinks. The user of a remote stream need not be in
    /// the channel yet: a sink that is added before joining misses no frame.
    ///
    /// - Parameters:
    ///   - sink: The sink, which belongs to the engine from now on.
    ///   - stream: The stream to show.
    ///   - options: The form of the frames, and the sink's queue.
    /// - Returns: The id of the sink in this engine.
    /// - Throws: ``EngineError`` if the stream runs already and the sink does not start, or
    ///   ``EngineError/Code/invalidArgument`` if the object is another sink of this engine, or there is no such local
    ///   track; the sink is not kept then.
    @discardableResult
    public func addVideoSink(
        _ sink: sending any VideoSink, to stream: VideoStreamID,
        options: SinkOptions = SinkOptions()
    ) async throws(EngineError) -> SinkID {
        try await addSink(sink, to: stream, options, VideoMedia.self)
    }

    /// Removes a video sink: its queued frames are rendered, then it is stopped and disposed of.
    ///
    /// - Throws: ``EngineError/Code/invalidArgument`` if there is no such sink.
    public func removeVideoSink(_ id: SinkID) async throws(EngineError) {
        try await removeSink(id, VideoMedia.self)
    }

    /// Returns a reference to a video sink; `nil` if there is no such sink.
    public func videoSink(_ id: SinkID) -> EndpointReference<any VideoSink>? {
        sinks.video[id].map { EndpointReference(host: $0.host) }
    }

    /// Adds an audio sink to a stream; otherwise as ``addVideoSink(_:to:options:)``. Sinks of
    /// ``AudioStreamID/playback`` play the mix of all users, in blocks of 10 ms.
    ///
    /// ```swift
    /// try await engine.addAudioSink(PipelineAudioSink("autoaudiosink"), to: .playback)
    /// ```
    ///
    /// - Returns: The id of the sink in this engine.
    /// - Throws: As for ``addVideoSink(_:to:options:)``.
    @discardableResult
    public func addAudioSink(
        _ sink: sending any AudioSink, to stream: AudioStreamID
    ) async throws(EngineError) -> SinkID {
        try await addSink(sink, to: stream, (), AudioMedia.self)
    }

    /// Removes an audio sink: its queued frames are rendered, then it is stopped and disposed of.
    ///
    /// - Throws: ``EngineError/Code/invalidArgument`` if there is no such sink.
    public func removeAudioSink(_ id: SinkID) async throws(EngineError) {
        try await removeSink(id, AudioMedia.self)
    }

    /// Removes an object that is a video sink, an audio sink or both: its queued frames are rendered, then it
    /// is stopped and disposed of.
    ///
    /// - Throws: ``EngineError/Code/invalidArgument`` if it is no sink of this engine.
    package func removeSink(_ object: any MediaEndpoint) async throws(EngineError) {
        let (identity, typeName) = (ObjectIdentifier(object), "\(type(of: object))")
        try await enter()
        defer { leave() }
        let audio = sinks.audio.values.filter { $0.host.identity == identity }
        let video = sinks.video.values.filter { $0.host.identity == identity }
        guard !audio.isEmpty || !video.isEmpty else {
            throw EngineError(
                .invalidArgument, message: "\(typeName) is not a sink of this engine")
        }
        for entry in audio { await remove(entry) }
        for entry in video { await remove(entry) }
    }

    // MARK: The main sink

    /// Replaces the main video sink of a stream; `nil` removes it. Sinks that were added stay.
    ///
    /// - Throws: As for ``addVideoSink(_:to:options:)``.
    package func setVideoSink(
        _ sink: sending (any VideoSink)?, for stream: VideoStreamID, options: SinkOptions
    ) async throws(EngineError) {
        let next: VideoSinkHost?
        if let sink { next = makeHost(sink, options) } else { next = nil }
        try await enter()
        defer { leave() }
        let old = mainEntry(of: stream)
        if let next, next.identity == old?.host.identity {
            hub.post(.warning("\(next.typeName) is already that sink; nothing changed"))
            return
        }
        if let next { try await add(SinkEntry(host: next, stream: stream, isMain: true)) }
        if let old { await remove(old) }
    }

    /// Returns a reference to the main video sink of a stream; `nil` if there is none.
    package func mainVideoSink(of stream: VideoStreamID) -> EndpointReference<any VideoSink>? {
        mainEntry(of: stream).map { EndpointReference(host: $0.host) }
    }

    private func mainEntry(of stream: VideoStreamID) -> SinkEntry<VideoMedia>? {
        sinks.video.values.first { $0.isMain && $0.stream == stream }
    }
}

// Adding, removing, starting and stopping sinks.
extension MediaEngine {
    private func makeHost<Media: StreamedSink>(
        _ sink: sending Media.Sink, _ options: Media.Options
    ) -> SinkHost<Media> {
        let number = sinkNumbers[Media.kind, default: 0] + 1
        sinkNumbers[Media.kind] = number
        return SinkHost(
            sink, id: SinkID(Media.kind, number), options: options,
            converter: Media.makeConverter(backend), clock: clock,
            queueTimeout: configuration.queueTimeout, trace: transitions, events: hub)
    }

    private func addSink<Media: StreamedSink>(
        _ sink: sending Media.Sink, to stream: Media.Stream, _ options: Media.Options,
        _: Media.Type
    ) async throws(EngineError) -> SinkID {
        let host: SinkHost<Media> = makeHost(sink, options)
        try await enter()
        defer { leave() }
        try await add(SinkEntry(host: host, stream: stream, isMain: false))
        return host.id
    }

    private func removeSink<Media: StreamedSink>(
        _ id: SinkID, _: Media.Type
    ) async throws(EngineError) {
        try await enter()
        defer { leave() }
        guard let entry = sinks[keyPath: Media.table][id] else {
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
        if let place = sinks[keyPath: Media.table].values.first(where: {
            $0.host.identity == identity
        }) {
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
        sinks[keyPath: Media.table][entry.host.id] = entry
        if runs { Media.attach(entry, in: self) }
        updatePlayback()
    }

    func remove<Media>(_ entry: SinkEntry<Media>) async {
        let host = entry.host
        sinks[keyPath: Media.table][host.id] = nil
        Media.detach(entry, in: self)
        await tearDown(host)
        let counts = await complete(unless: host.isGivenUp, waiting: \.balance.waiting) {
            host.feed.counts(at: clock.clockTime())
        }
        removed[keyPath: Media.departed].add(host.id, counts)
        updatePlayback()
    }

    // MARK: Starting and stopping in parallel

    /// Starts the sinks whose stream starts to run, in parallel, so that one that hangs does not
    /// delay the others. Errors are posted as events.
    func bringUpSinks<Media: StreamedSink>(
        _: Media.Type, where isWanted: (Media.Stream) -> Bool
    ) async {
        let entries = sinks[keyPath: Media.table].values.filter { isWanted($0.stream) }
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
            hub.post(.sinkFailed(entry.host.id, error))
        }
    }

    /// Stops sinks in parallel.
    func tearDownSinks<Media: StreamedSink>(
        _: Media.Type, where isMeant: (Media.Stream) -> Bool
    ) async {
        let hosts = sinks[keyPath: Media.table].values.filter { isMeant($0.stream) }.map(\.host)
        await withTaskGroup { group in
            for host in hosts { group.addTask { await self.tearDown(host) } }
        }
        updatePlayback()
    }

    /// Renders the queued frames, stops a sink and disposes of it. Errors are posted as events.
    private func tearDown<Media>(_ host: SinkHost<Media>) async {
        host.feed.close()
        await tolerate(host, .stop)
        await tolerate(host, .dispose)
    }
}
