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
        try await set(renderer, for: .local(), options)
    }

    /// Replaces the renderer of a user's video; `nil` removes it. The user need not be in the
    /// channel yet: a renderer that is set before joining misses no frame.
    ///
    /// - Throws: As for ``setLocalVideoRenderer(_:options:)``.
    public func setRemoteVideoRenderer(
        _ renderer: sending (any VideoSink)?, forUserID user: UserID, track: TrackID = .main,
        options: RendererOptions = RendererOptions()
    ) async throws(EngineError) {
        try await set(renderer, for: .remote(user, track), options)
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
        _ renderer: sending any VideoSink, to stream: StreamID,
        options: RendererOptions = RendererOptions()
    ) async throws(EngineError) -> RendererID {
        let host = makeHost(renderer, options)
        try await enter()
        defer { leave() }
        try await add(RendererEntry(host: host, stream: stream, isMain: false))
        return host.id
    }

    /// Returns the renderer with this id, for ``VideoRendererReference/perform(_:)``; `nil` if
    /// there is none.
    public func videoRenderer(_ id: RendererID) -> VideoRendererReference? {
        renderers[id].map { VideoRendererReference(host: $0.host) }
    }

    /// Removes a renderer: its queued frames are rendered, then it is stopped and disposed of.
    ///
    /// - Throws: ``EngineError/Code/invalidArgument`` if there is no such renderer.
    public func removeVideoRenderer(_ id: RendererID) async throws(EngineError) {
        try await enter()
        defer { leave() }
        guard let entry = renderers[id] else {
            throw EngineError(.invalidArgument, message: "there is no \(id)")
        }
        await remove(entry)
    }

    // MARK: Internal

    private func main(of stream: StreamID) -> VideoRendererReference? {
        renderers.values.first { $0.isMain && $0.stream == stream }
            .map { VideoRendererReference(host: $0.host) }
    }

    private func makeHost(
        _ renderer: sending any VideoSink, _ options: RendererOptions
    ) -> VideoSinkHost {
        rendererNumber += 1
        return VideoSinkHost(
            renderer, id: RendererID(number: rendererNumber), options: options,
            isOffline: clock.isOffline, patience: configuration.patience, clock: clock.clockTime,
            trace: transitions, events: hub)
    }

    private func set(
        _ renderer: sending (any VideoSink)?, for stream: StreamID, _ options: RendererOptions
    ) async throws(EngineError) {
        let next: VideoSinkHost?
        if let renderer { next = makeHost(renderer, options) } else { next = nil }
        try await enter()
        defer { leave() }
        let old = renderers.values.first { $0.isMain && $0.stream == stream }
        if let next, next.identity == old?.host.identity {
            hub.post(.warning("\(next.typeName) is that renderer already; nothing changes"))
            return
        }
        if let next {
            try await add(RendererEntry(host: next, stream: stream, isMain: true))
        }
        if let old { await remove(old) }
    }

    private func add(_ entry: RendererEntry) async throws(EngineError) {
        if case .local(let track) = entry.stream, slots[track] == nil {
            throw EngineError(.invalidArgument, message: "there is no \(track)")
        }
        // An object may have only one host.
        if let place = renderers.values.first(where: { $0.host.identity == entry.host.identity }) {
            throw EngineError(
                .invalidArgument,
                message: "\(entry.host.typeName) is \(place.host.id) of this engine already",
                advice: "take it away from there first")
        }
        try refuseOverdue(entry.host)
        guard runs(entry.stream) else {
            renderers[entry.host.id] = entry
            return
        }
        try await bringUp(entry.host)
        renderers[entry.host.id] = entry
        attach(entry)
    }

    func remove(_ entry: RendererEntry) async {
        renderers[entry.host.id] = nil
        detach(entry)
        await takeDown(entry.host)
        let counts = await complete(unless: entry.host.isGivenUp) {
            entry.host.feed.statistics(now: clock.clockTime())
        }
        gone.renderers.add(entry.host.id, counts)
    }

    /// Returns whether renderers of this stream must run now.
    private func runs(_ stream: StreamID) -> Bool {
        stream.isLocal ? !holds.isEmpty : membership != nil || joining != nil
    }

    // MARK: Starting and stopping in parallel

    /// Starts the renderers whose stream starts to run, in parallel, so that one that hangs does
    /// not delay the others. Errors are posted as events.
    func bringUp(_ isWanted: (StreamID) -> Bool) async {
        let entries = renderers.values.filter { isWanted($0.stream) }
        await withTaskGroup { group in
            for entry in entries { group.addTask { await self.start(entry) } }
        }
    }

    private func start(_ entry: RendererEntry) async {
        do throws(EngineError) {
            try await bringUp(entry.host)
            attach(entry)
        } catch {
            detach(entry)
            hub.post(.rendererFailed(entry.host.id, error))
        }
    }

    /// Stops renderers in parallel.
    func takeDown(_ isMeant: (StreamID) -> Bool) async {
        let hosts = renderers.values.filter { isMeant($0.stream) }.map(\.host)
        await withTaskGroup { group in
            for host in hosts { group.addTask { await self.takeDown(host) } }
        }
    }

    // MARK: Streams

    private func attach(_ entry: RendererEntry) {
        let (feed, options) = (entry.host.feed, entry.host.options)
        var request = RenderRequest(
            pixelFormat: entry.host.pixelFormat ?? .any, size: options.size,
            fillsSize: options.renderMode == .hidden,
            isUpright: options.isUpright, mirror: options.mirror)
        switch entry.stream {
        case .local(let track): slots[track]?.track.local.attach(feed, for: request)
        case .remote(let user, let track):
            // Automatic mirroring applies to the local view only.
            if request.mirror == .automatic { request.mirror = .disabled }
            remote.attach(feed, to: user, track, for: request)
        }
    }

    func detach(_ entry: RendererEntry) {
        let feed = entry.host.feed
        switch entry.stream {
        case .local(let track): slots[track]?.track.local.detach(feed)
        case .remote(let user, let track): remote.detach(feed, from: user, track)
        }
    }
}

/// A reference to a renderer that the engine owns.
public struct VideoRendererReference: Sendable {
    let host: VideoSinkHost

    /// The id of the renderer in its engine.
    public var id: RendererID { host.id }

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
