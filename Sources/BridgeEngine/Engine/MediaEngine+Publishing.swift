public import MediaCore

/// What the channel gets of the local tracks.
public struct VideoEncoderConfiguration: Hashable, Sendable {
    /// With borders where the shape differs; `nil` for the source's.
    public var size: VideoSize?
    /// Default ``VideoMirrorMode/automatic``: not mirrored.
    public var mirror = VideoMirrorMode.automatic
    /// Whether pictures are turned upright before they are sent. Default false.
    public var isUpright = false

    public init() {}
}

// What is sent to the channel.
extension MediaEngine {
    /// What the channel gets of the local tracks, from the next frame on.
    public func setVideoEncoderConfiguration(
        _ configuration: VideoEncoderConfiguration
    ) async throws(EngineError) {
        try await enter()
        defer { leave() }
        encoder = configuration
        for publisher in publishers.values { publisher.send(encoderRequest) }
    }

    /// Sends a custom track to the channel, from the next frame on.
    public func publishCustomVideoTrack(_ track: TrackID) async throws(EngineError) {
        try await enter()
        defer { leave() }
        guard slots[track] != nil else {
            throw EngineError(.invalidArgument, message: "there is no \(track)")
        }
        guard membership != nil, role == .broadcaster else {
            throw EngineError(
                .notInChannel, message: "not a broadcaster in a channel",
                advice: "joinChannel(_:token:userID:role:) first")
        }
        publish(track)
    }

    /// Sends a custom track no more.
    public func unpublishCustomVideoTrack(_ track: TrackID) async throws(EngineError) {
        try await enter()
        defer { leave() }
        await stopPublishing(track)
    }

    /// Sends the source's pictures, from its first on.
    func goOnAir() async throws(EngineError) {
        if configuration.hasVideo { publish(.main) }
        if audio.isEnabled { publishAudio() }
        do throws(EngineError) { try await acquire(.channel) } catch {
            await stopPublishing()
            throw error
        }
    }

    private var encoderRequest: RenderRequest {
        RenderRequest(
            size: encoder.size, isUpright: encoder.isUpright,
            mirror: encoder.mirror == .enabled ? .enabled : .disabled)
    }

    private func publish(_ track: TrackID) {
        guard publishers[track] == nil, let membership, let slot = slots[track] else { return }
        publishers[track] = Publisher(
            slot.track.outgoing, as: track, to: membership, encoderRequest, clock: clock,
            patience: configuration.patience, counting: outgoing)
    }

    func publishAudio() {
        guard audio.publisher == nil, let membership else { return }
        audio.publisher = AudioPublisher(
            audioTrack.outgoing, to: membership, counting: outgoingAudio)
    }

    func stopPublishing() async {
        audio.publisher?.stop()
        audio.publisher = nil
        for track in publishers.keys { await stopPublishing(track) }
    }

    func stopPublishing(_ track: TrackID) async {
        await publishers.removeValue(forKey: track)?.stop(within: configuration.callDeadline)
    }
}
