public import MediaCore

/// What a user does in a channel.
public enum ChannelRole: String, Sendable {
    /// Sends and receives.
    case broadcaster
    /// Receives alone; the source is not started.
    case audience
}

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

extension MediaEngine {
    /// Joins a channel: starts the source, unless the preview holds it already, sends its pictures, and
    /// shows those of the others to their renderers.
    ///
    /// - Parameters:
    ///   - token: `nil` where the channel demands none.
    ///   - userID: Unique in the channel.
    /// - Throws: ``EngineError``: ``EngineError/Code/alreadyInChannel``, one of the codes for tokens and
    ///   user ids, or why the source does not start. The engine is not in the channel then.
    public func joinChannel(
        _ channel: String, token: String? = nil, userID: UserID,
        role: ChannelRole = .broadcaster
    ) async throws(EngineError) {
        try await enter()
        defer { leave() }
        if let current = self.channel {
            throw EngineError(
                .alreadyInChannel, message: "in \"\(current.channel)\" already",
                advice: "leaveChannel() first")
        }
        let request = ChannelRequest(channel: channel, token: token, userID: userID)
        self.channel = request
        self.role = role
        do throws(EngineError) {
            try await join(request)
        } catch {
            self.channel = nil
            throw error
        }
    }

    private func join(_ request: ChannelRequest) async throws(EngineError) {
        // Renderers first, so that they miss no frame.
        for entry in renderers.values where !entry.stream.isLocal { await start(entry) }
        remote.prepare(request.channel, as: request.userID)
        do throws(EngineError) {
            let membership = try await reach(request)
            self.membership = membership
            remote.noteJoined()
            guard role == .broadcaster else {
                startHeartbeat()
                return
            }
            try await acquire(.channel)
            publish(.main)
        } catch {
            await membership?.leave()
            membership = nil
            remote.clear()
            await stopRemoteRenderers()
            throw error
        }
    }

    private func reach(
        _ request: ChannelRequest
    ) async throws(EngineError) -> any ChannelMembership {
        let (transport, remote) = (self.transport, self.remote)
        let limit = configuration.callDeadline * 2
        let result = await outcome(within: limit) { () async throws(EngineError) in
            try await transport.join(request, receiver: remote)
        }
        guard let result else {
            throw EngineError(
                .stuck, call: "join",
                message: "the channel \"\(request.channel)\" has not answered within \(limit)")
        }
        return try result.get()
    }

    /// Leaves the channel, and lets its hold on the source go; a preview stays.
    ///
    /// - Returns: What the engine had done when it left.
    /// - Throws: ``EngineError/Code/notInChannel``.
    @discardableResult
    public func leaveChannel() async throws(EngineError) -> EngineStatistics {
        try await enter()
        defer { leave() }
        guard membership != nil else {
            throw EngineError(.notInChannel, message: "not in a channel")
        }
        let statistics = statisticsNow()
        await leaveNow()
        return statistics
    }

    func leaveNow() async {
        publishers.values.forEach { $0.stop() }
        publishers = [:]
        let (left, name) = (membership, channel?.channel ?? "")
        membership = nil
        channel = nil
        await left?.leave()
        remote.clear()
        await stopRemoteRenderers()
        await release(.channel)
        if holds.isEmpty { stopHeartbeat() }
        hub.post(.left(channel: name))
    }

    private func stopRemoteRenderers() async {
        for entry in renderers.values where !entry.stream.isLocal { await takeDown(entry.seat) }
    }

    /// The transport says that the channel is gone.
    func lostChannel(_ error: EngineError) async {
        do throws(EngineError) { try await enter() } catch { return }
        defer { leave() }
        guard membership != nil else { return }
        await leaveNow()
        hub.post(.disconnected(error))
    }

    /// The channel that the engine is in.
    public var currentChannel: ChannelRequest? { membership == nil ? nil : channel }

    /// The others in the channel.
    nonisolated public var remoteUsers: Set<UserID> { remote.users }

    // MARK: What is sent

    /// What the channel gets of the local tracks, from the next frame on.
    public func setVideoEncoderConfiguration(
        _ configuration: VideoEncoderConfiguration
    ) async throws(EngineError) {
        try await enter()
        defer { leave() }
        encoder = configuration
        for track in publishers.keys {
            publishers[track]?.stop()
            publish(track)
        }
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
                advice: "joinChannel(_:token:userID:) first")
        }
        if publishers[track] == nil { publish(track) }
    }

    /// Sends a custom track no more.
    public func unpublishCustomVideoTrack(_ track: TrackID) async throws(EngineError) {
        try await enter()
        defer { leave() }
        publishers.removeValue(forKey: track)?.stop()
    }

    private func publish(_ track: TrackID) {
        guard let membership, let slot = slots[track] else { return }
        let request = RenderRequest(
            size: encoder.size, isUpright: encoder.isUpright,
            isMirrored: encoder.mirror == .enabled)
        publishers[track] = Publisher(
            slot.track.outgoing, as: track, to: membership, request, clock: clock)
    }
}
