public import MediaCore

extension MediaEngine {
    /// Replaces the renderer of the local view; `nil` takes it away. Others that were added stay.
    ///
    /// - Throws: ``EngineError`` where the local video runs already and the renderer does not start; it
    ///   is not kept then.
    public func setLocalVideoRenderer(
        _ renderer: sending (any VideoSink)?, options: RendererOptions = RendererOptions()
    ) async throws(EngineError) {
        try await set(renderer, for: .local(), options)
    }

    /// Replaces the renderer of a user's view; `nil` takes it away. The user need not be there yet:
    /// what is set before joining misses no frame.
    public func setRemoteVideoRenderer(
        _ renderer: sending (any VideoSink)?, forUserID user: UserID, track: TrackID = .main,
        options: RendererOptions = RendererOptions()
    ) async throws(EngineError) {
        try await set(renderer, for: .remote(user, track), options)
    }

    /// The renderer that was set for the local view.
    public var localVideoRenderer: VideoRendererReference? { main(of: .local()) }

    /// The renderer that was set for a user's view.
    public func remoteVideoRenderer(
        forUserID user: UserID, track: TrackID = .main
    ) -> VideoRendererReference? {
        main(of: .remote(user, track))
    }

    /// Adds a renderer to a stream; any number may show the same.
    @discardableResult
    public func addVideoRenderer(
        _ renderer: sending any VideoSink, to stream: StreamID,
        options: RendererOptions = RendererOptions()
    ) async throws(EngineError) -> RendererID {
        let host = makeSeat(renderer, options)
        try await enter()
        defer { leave() }
        try await add(RendererEntry(host: host, stream: stream, isMain: false))
        return host.id
    }

    /// A renderer by its id, to reach it (``VideoRendererReference/perform(_:)``); `nil` for one that is not
    /// there.
    public func videoRenderer(_ id: RendererID) -> VideoRendererReference? {
        renderers[id].map { VideoRendererReference(host: $0.host) }
    }

    /// Takes a renderer away: what it was given is rendered, then it is stopped and disposed of.
    public func removeVideoRenderer(_ id: RendererID) async throws(EngineError) {
        try await enter()
        defer { leave() }
        guard let entry = renderers[id] else {
            throw EngineError(.invalidArgument, message: "there is no \(id)")
        }
        await remove(entry)
    }

    // MARK: Inside

    private func main(of stream: StreamID) -> VideoRendererReference? {
        renderers.values.first { $0.isMain && $0.stream == stream }
            .map { VideoRendererReference(host: $0.host) }
    }

    private func makeSeat(
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
        if let renderer { next = makeSeat(renderer, options) } else { next = nil }
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
        // One object is called from one place.
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
        let counts = entry.host.feed.statistics(now: clock.clockTime())
        gone.renderers.add(entry.host.id, counts)
    }

    /// Whether renderers of this stream are to run now.
    private func runs(_ stream: StreamID) -> Bool {
        stream.isLocal ? !holds.isEmpty : membership != nil || joining != nil
    }

    // MARK: Many at once

    /// Starts the renderers that waited for their stream to run, side by side: one that hangs keeps the
    /// others from nothing. What goes wrong is an event.
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

    /// Stops renderers side by side.
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
            // Nobody looks into a mirror there.
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

/// A renderer that the engine holds.
public struct VideoRendererReference: Sendable {
    let host: VideoSinkHost

    public var id: RendererID { host.id }

    /// Whether it is this object.
    public func refers(to renderer: any VideoSink) -> Bool {
        ObjectIdentifier(renderer) == host.identity
    }

    /// Runs `body` with the renderer, on the one thread that calls it, between two frames.
    public func perform<R: Sendable>(
        _ body: @Sendable (any VideoSink) throws -> R
    ) async rethrows -> R {
        try await host.perform(body)
    }
}
