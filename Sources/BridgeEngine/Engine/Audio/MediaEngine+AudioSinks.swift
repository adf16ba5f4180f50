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
        try await addSink(makeAudioSinkHost(sink), to: stream)
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
        try await removeSink(id, AudioMedia.self)
    }

    // MARK: Internal

    private func makeAudioSinkHost(_ sink: sending any AudioSink) -> AudioSinkHost {
        audio.sinkNumber += 1
        return AudioSinkHost(
            sink, id: AudioSinkID(number: audio.sinkNumber), options: (),
            converter: backend.makeAudioConverter(), clock: clock,
            queueTimeout: configuration.queueTimeout, trace: transitions, events: hub)
    }

    private func setAudioSink(
        _ sink: sending (any AudioSink)?, for stream: AudioStreamID
    ) async throws(EngineError) {
        let next: AudioSinkHost?
        if let sink { next = makeAudioSinkHost(sink) } else { next = nil }
        try await setSink(next, for: stream)
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
