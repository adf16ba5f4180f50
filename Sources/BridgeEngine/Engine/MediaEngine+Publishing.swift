public import MediaCore

/// The form in which local tracks are sent to the channel.
public struct VideoEncoderConfiguration: Hashable, Sendable {
    /// The size to send, in pixels, with borders if the aspect ratio differs; `nil`, the default,
    /// for the source's size.
    public var size: VideoSize?
    /// How frames are mirrored. Default ``VideoMirrorMode/automatic``: not mirrored.
    public var mirror = VideoMirrorMode.automatic
    /// Whether frames are rotated upright before they are sent. Default false.
    public var isUpright = false

    /// Creates a configuration with the default values.
    public init() {}
}

// Sending to the channel.
extension MediaEngine {
    /// Sets the form in which local tracks are sent to the channel, from the next frame on.
    public func setVideoEncoderConfiguration(
        _ configuration: VideoEncoderConfiguration
    ) async throws(EngineError) {
        try await enter()
        defer { leave() }
        encoder = configuration
        for publisher in publishers.values { publisher.send(encoderRequest) }
    }

    /// Starts to send a custom track to the channel, from the next frame on.
    ///
    /// - Throws: ``EngineError/Code/invalidArgument`` if there is no such track,
    ///   ``EngineError/Code/notInChannel`` unless the engine is a broadcaster in a channel.
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

    /// Stops sending a custom track.
    public func unpublishCustomVideoTrack(_ track: TrackID) async throws(EngineError) {
        try await enter()
        defer { leave() }
        await stopPublishing(track)
    }

    /// Starts to send, beginning with the source's first frame, and starts the source.
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
            queueTimeout: configuration.queueTimeout, counting: outgoing)
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
