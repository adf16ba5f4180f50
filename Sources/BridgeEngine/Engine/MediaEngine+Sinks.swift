public import MediaCore

extension MediaEngine {
    /// Replaces the renderer of the local video; `nil` removes it. Renderers that were added stay.
    ///
    /// - Throws: ``EngineError`` if the local video runs already and the renderer does not start,
    ///   or ``EngineError/Code/invalidArgument`` if the object is another renderer of this engine;
    ///   the renderer is not kept then.
    public func setLocalVideoRenderer(
        _ renderer: sending (any VideoSink)?, options: RendererOptions = RendererOptions()
    ) async throws(EngineError) {
        try await setSink(renderer, for: .local(), options, VideoMedia.self)
    }

    /// Replaces the renderer of a user's video; `nil` removes it. The user need not be in the
    /// channel yet: a renderer that is set before joining misses no frame.
    ///
    /// - Throws: As for ``setLocalVideoRenderer(_:options:)``.
    public func setRemoteVideoRenderer(
        _ renderer: sending (any VideoSink)?, forUserID user: UserID, track: TrackID = .main,
        options: RendererOptions = RendererOptions()
    ) async throws(EngineError) {
        try await setSink(renderer, for: .remote(user, track), options, VideoMedia.self)
    }

    /// The renderer that was set for the local video; `nil` if none.
    public var localVideoRenderer: VideoRendererReference? { main(of: .local()) }

    /// Returns the renderer that was set for a user's video; `nil` if none.
    public func remoteVideoRenderer(
        forUserID user: UserID, track: TrackID = .main
    ) -> VideoRendererReference? {
        main(of: .remote(user, track))
    }

    /// Adds a renderer to a stream. A stream may have any number of renderers.
    ///
    /// - Returns: The id of the renderer in this engine.
    /// - Throws: As for ``setLocalVideoRenderer(_:options:)``; also
    ///   ``EngineError/Code/invalidArgument`` if there is no such local track.
    @discardableResult
    public func addVideoRenderer(
        _ renderer: sending any VideoSink, to stream: VideoStreamID,
        options: RendererOptions = RendererOptions()
    ) async throws(EngineError) -> SinkID {
        try await addSink(renderer, to: stream, options, VideoMedia.self)
    }

    /// Removes a renderer: its queued frames are rendered, then it is stopped and disposed of.
    ///
    /// - Throws: ``EngineError/Code/invalidArgument`` if there is no such renderer.
    public func removeVideoRenderer(_ id: SinkID) async throws(EngineError) {
        try await removeSink(id, VideoMedia.self)
    }

    // MARK: Internal

    private func main(of stream: VideoStreamID) -> VideoRendererReference? {
        mainSink(of: stream, VideoMedia.self).map { VideoRendererReference(host: $0.host) }
    }
}

/// A reference to a renderer that the engine owns.
public struct VideoRendererReference: Sendable {
    let host: VideoSinkHost

    /// The id of the renderer in its engine.
    public var id: SinkID { host.id }

    /// Returns whether the reference is to this object.
    public func refers(to renderer: any VideoSink) -> Bool {
        ObjectIdentifier(renderer) == host.identity
    }

    /// Runs `body` with the renderer, on the only thread that calls the renderer, between two
    /// frames.
    public func perform<R: Sendable>(
        _ body: @Sendable (any VideoSink) throws -> R
    ) async rethrows -> R {
        try await host.perform(body)
    }
}

// MARK: Audio sinks

extension MediaEngine {
    /// Replaces the sink of the engine's own audio; `nil` removes it. Sinks that were added stay.
    ///
    /// - Throws: ``EngineError`` if the audio runs already and the sink does not start, or
    ///   ``EngineError/Code/invalidArgument`` if the object is another sink of this engine; the
    ///   sink is not kept then.
    public func setLocalAudioSink(
        _ sink: sending (any AudioSink)?
    ) async throws(EngineError) {
        try await setSink(sink, for: .local, (), AudioMedia.self)
    }

    /// Replaces the sink of a user's audio; `nil` removes it. The user need not be in the channel
    /// yet: a sink that is set before joining misses nothing.
    ///
    /// - Throws: As for ``setLocalAudioSink(_:)``.
    public func setRemoteAudioSink(
        _ sink: sending (any AudioSink)?, forUserID user: UserID
    ) async throws(EngineError) {
        try await setSink(sink, for: .remote(user), (), AudioMedia.self)
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
        try await setSink(sink, for: .playback, (), AudioMedia.self)
    }

    /// Adds a sink to a stream. A stream may have any number of sinks.
    ///
    /// - Returns: The id of the sink in this engine.
    /// - Throws: As for ``setLocalAudioSink(_:)``.
    @discardableResult
    public func addAudioSink(
        _ sink: sending any AudioSink, to stream: AudioStreamID
    ) async throws(EngineError) -> SinkID {
        try await addSink(sink, to: stream, (), AudioMedia.self)
    }

    /// Removes a sink: its queued frames are rendered, then it is stopped and disposed of.
    ///
    /// - Throws: ``EngineError/Code/invalidArgument`` if there is no such sink.
    public func removeAudioSink(_ id: SinkID) async throws(EngineError) {
        try await removeSink(id, AudioMedia.self)
    }
}

// Adding, removing, starting and stopping renderers and audio sinks.
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

    /// Replaces the main sink of a stream; `nil` removes it.
    private func setSink<Media: StreamedSink>(
        _ sink: sending Media.Sink?, for stream: Media.Stream, _ options: Media.Options,
        _: Media.Type
    ) async throws(EngineError) {
        let next: SinkHost<Media>?
        if let sink { next = makeHost(sink, options) } else { next = nil }
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

    private func mainSink<Media: StreamedSink>(
        of stream: Media.Stream, _: Media.Type
    ) -> SinkEntry<Media>? {
        sinks[keyPath: Media.table].values.first { $0.isMain && $0.stream == stream }
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
