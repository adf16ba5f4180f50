internal import MediaCore
internal import Synchronization

// Sending to the channel.
extension MediaEngine {
    /// Sets the form in which local tracks are sent to the channel, from the next frame on.
    public func setVideoEncoderConfiguration(
        _ configuration: VideoEncoderConfiguration
    ) async throws(EngineError) {
        try await enter()
        defer { leave() }
        encoder = configuration
        for publisher in publishing.withLock({ Array($0.publishers.values) }) {
            publisher.send(encoder)
        }
    }

    /// Starts to send a custom track to the channel, from the next frame on.
    ///
    /// - Throws: ``EngineError/Code/invalidArgument`` if there is no such track,
    ///   ``EngineError/Code/notInChannel`` unless the engine is a broadcaster in a channel.
    package func publish(_ track: TrackID) async throws(EngineError) {
        try await enter()
        defer { leave() }
        guard slots[track] != nil else {
            throw EngineError(.invalidArgument, message: "\(track) not found")
        }
        guard membership != nil, role == .broadcaster else {
            throw EngineError(
                .notInChannel, message: "not a broadcaster in a channel",
                advice: "joinChannel(_:token:userID:role:renewingToken:) first")
        }
        beginPublishing(track)
    }

    /// Stops sending a custom track.
    package func unpublish(_ track: TrackID) async throws(EngineError) {
        try await enter()
        defer { leave() }
        await stopPublishing(track)
    }

    /// Stops sending a video track to the channel, or sends it again. The track stays published,
    /// and the other users are notified; preview and recordings continue. If the track is not
    /// published, the setting applies once it is. Thread: any.
    ///
    /// - Parameters:
    ///   - isMuted: Whether to stop sending.
    ///   - track: The track. Default: the main one.
    nonisolated public func muteLocalVideo(_ isMuted: Bool, track: TrackID = .main) {
        let publisher = publishing.withLock { publishing in
            if isMuted { publishing.muted.insert(track) } else { publishing.muted.remove(track) }
            return publishing.publishers[track]
        }
        publisher?.updateMuting { isLocalVideoMuted(track) }
    }

    /// Whether a track is muted, published or not.
    nonisolated func isLocalVideoMuted(_ track: TrackID) -> Bool {
        publishing.withLock { $0.muted.contains(track) }
    }

    /// Starts to send, beginning with the source's first frame, and starts the source.
    func startBroadcast() async throws(EngineError) {
        if configuration.hasVideo { beginPublishing(.main) }
        if audio.isEnabled { publishAudio() }
        do throws(EngineError) { try await acquire(.channel) } catch {
            await stopPublishing()
            throw error
        }
    }

    private func beginPublishing(_ track: TrackID) {
        guard publishing.withLock({ $0.publishers[track] == nil }), let membership,
            let slot = slots[track]
        else { return }
        let feedback = PublisherFeedback(track, events: hub, relay: relay)
        let publication = membership.publish(.video(track), feedback: feedback)
        let local = slot.track
        let context = Publisher.Context(
            backend: backend, clock: clock, queueTimeout: configuration.queueTimeout,
            sent: outgoing, encoded: local.encoded,
            contentHint: { [weak local] in local?.contentHint ?? .unspecified },
            onKeyFrameNeeded: feedback.requestKeyFrameFromSource,
            onFailure: failureReport(of: .video(track)),
            onTakeover: { [hub] in hub.post(.warning($0)) })
        let publisher = Publisher(local.outgoing, to: publication, encoder, context)
        feedback.serve(publisher)
        publishing.withLock { $0.publishers[track] = publisher }
        if isLocalVideoMuted(track) { publisher.updateMuting { isLocalVideoMuted(track) } }
    }

    /// Returns the closure that posts why a stream cannot be encoded.
    private func failureReport(of track: MediaTrackID) -> @Sendable (any Error) -> Void {
        { [hub] error in
            let failure =
                error as? EngineError
                ?? EngineError(
                    .sendingFailed, message: "\(track) cannot be encoded", underlying: error)
            hub.post(.publicationChanged(track, .failed(failure)))
        }
    }

    func publishAudio() {
        guard audio.publisher == nil, let membership else { return }
        let publisher = AudioPublisher(
            audioTrack.outgoing, to: membership.publish(.audio, feedback: nil), backend,
            audio.encoder, counting: outgoingAudio, onFailure: failureReport(of: .audio))
        audio.publisher = publisher
        audioTrack.watchMuting { [weak publisher] in publisher?.setMuted($0) }
    }

    /// Sets the form in which the engine's own audio is sent to the channel, from the next frame on.
    public func setAudioEncoderConfiguration(
        _ configuration: AudioEncoderConfiguration
    ) async throws(EngineError) {
        try await enter()
        defer { leave() }
        audio.encoder = configuration
        audio.publisher?.configure(configuration)
    }

    func stopPublishing() async {
        audio.publisher?.stop()
        audio.publisher = nil
        for track in publishing.withLock({ Array($0.publishers.keys) }) {
            await stopPublishing(track)
        }
    }

    func stopPublishing(_ track: TrackID) async {
        let publisher = publishing.withLock { $0.publishers.removeValue(forKey: track) }
        await publisher?.stop(within: configuration.callTimeout)
        guard let slot = slots[track] else { return }
        slot.limit = VideoLimit()
        limitSource(of: slot)
    }
}

/// Forwards the channel's requests to the engine's tracks. Thread: any.
private final class PublisherFeedback: PublicationFeedback {
    private struct State {
        weak var publisher: Publisher?
        // The requests that arrived before the publisher existed.
        var limit: VideoLimit?
        var isPaused = false
    }
    private let state = Mutex(State())
    private let track: TrackID
    private let events: EventHub<EngineEvent>
    private let relay: TrackEventRelay

    init(_ track: TrackID, events: EventHub<EngineEvent>, relay: TrackEventRelay) {
        self.track = track
        self.events = events
        self.relay = relay
    }

    func serve(_ publisher: Publisher) {
        let (limit, isPaused) = state.withLock { state in
            state.publisher = publisher
            return (state.limit, state.isPaused)
        }
        if let limit { publisher.encoder.limit(limit) }
        if isPaused { publisher.encoder.pause(for: .paused) }
    }

    func keyFrameNeeded() {
        if state.withLock({ $0.publisher })?.requestKeyFrame() == true { return }
        requestKeyFrameFromSource()
    }

    @Sendable func requestKeyFrameFromSource() {
        events.post(.keyFrameNeeded(track))
        relay.post(SourceEvent<VideoMedia>.keyFrameNeeded, of: .video(track))
    }

    func limitChanged(_ limit: VideoLimit) {
        state.withLock { state in
            state.limit = limit
            return state.publisher
        }?.encoder.limit(limit)
        relay.post(SourceEvent<VideoMedia>.limitChanged(limit), of: .video(track))
        events.post(.publicationLimited(track, limit))
    }

    func codecsChanged() -> Bool {
        // A publisher that does not exist yet will start with the codecs carried then.
        state.withLock { $0.publisher }?.codecsChanged() ?? true
    }

    func stateChanged(_ publication: PublicationState) {
        let isPaused = if case .paused = publication { true } else { false }
        state.withLock { state in
            state.isPaused = isPaused
            return state.publisher
        }?.encoder.pause(for: isPaused ? .paused : nil)
        events.post(.publicationChanged(.video(track), publication))
    }
}
