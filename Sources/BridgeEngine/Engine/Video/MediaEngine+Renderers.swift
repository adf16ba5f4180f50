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
        try await addSink(makeHost(renderer, options), to: stream)
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
        try await removeSink(id, VideoMedia.self)
    }

    // MARK: Internal

    private func main(of stream: StreamID) -> VideoRendererReference? {
        mainSink(of: stream, VideoMedia.self).map { VideoRendererReference(host: $0.host) }
    }

    private func makeHost(
        _ renderer: sending any VideoSink, _ options: RendererOptions
    ) -> VideoSinkHost {
        rendererNumber += 1
        return VideoSinkHost(
            renderer, id: RendererID(number: rendererNumber), options: options, converter: (),
            clock: clock, queueTimeout: configuration.queueTimeout, trace: transitions, events: hub)
    }

    private func set(
        _ renderer: sending (any VideoSink)?, for stream: StreamID, _ options: RendererOptions
    ) async throws(EngineError) {
        let next: VideoSinkHost?
        if let renderer { next = makeHost(renderer, options) } else { next = nil }
        try await setSink(next, for: stream)
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
