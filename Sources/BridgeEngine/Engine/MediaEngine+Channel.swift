internal import MediaBasics
internal import MediaCore

/// What a user does in a channel.
public enum ChannelRole: String, Sendable {
    /// Sends and receives.
    case broadcaster
    /// Receives alone; the source is not started.
    case audience
}

extension MediaEngine {
    /// Joins a channel: starts the source, unless the preview holds it already, sends its pictures, and
    /// shows those of the others to their renderers.
    ///
    /// Everything but other channels may be used while the channel has not answered. Cancelling the task
    /// ends the attempt.
    ///
    /// - Parameters:
    ///   - token: `nil` where the channel demands none.
    ///   - userID: Unique in the channel.
    /// - Throws: ``EngineError``: ``EngineError/Code/alreadyInChannel``, one of the codes for tokens and
    ///   user ids, ``EngineError/Code/stuck`` where the channel does not answer,
    ///   ``EngineError/Code/cancelled``, or why the source does not start. The engine is not in the channel
    ///   then.
    public func joinChannel(
        _ channel: String, token: String? = nil, userID: UserID,
        role: ChannelRole = .broadcaster
    ) async throws(EngineError) {
        let what = "joining channel \(channel)"
        try await enter(channelTurnstile, cancelling: what)
        defer { channelTurnstile.leave() }
        if let current = self.channel {
            throw EngineError(
                .alreadyInChannel, message: "in \"\(current.channel)\" already",
                advice: "leaveChannel() first")
        }
        try await enter(cancelling: what)
        defer { leave() }
        try await join(ChannelRequest(channel: channel, token: token, userID: userID), role)
    }

    /// Inside both turnstiles.
    private func join(_ request: ChannelRequest, _ role: ChannelRole) async throws(EngineError) {
        let session = RemoteSession(request, to: remote, events: hub) {
            [weak self] session, error in
            ControlTask.start { [weak self] in await self?.lost(session, error) }
        }
        // From here on renderers of users are started as they are added.
        let joining = JoinAttempt()
        self.joining = joining
        // Renderers first, so that they miss no frame.
        await bringUp { !$0.isLocal }
        await bringUpAudioSinks { !$0.isLocal }
        let answer = await reach(request, session, joining)
        self.joining = nil
        do throws(EngineError) {
            membership = try answer.get()
            (self.session, self.channel, self.role) = (session, request, role)
            session.noteJoined()
            updatePlayback()
            startHeartbeat()
            if role == .broadcaster { try await goOnAir() }
        } catch {
            await dismiss(membership, session)
            if holds.isEmpty { stopHeartbeat() }
            if session.wasTold { hub.post(.left(channel: request.channel)) }
            throw error
        }
    }

    /// Asks the transport. Others may use the engine meanwhile.
    private func reach(
        _ request: ChannelRequest, _ session: RemoteSession, _ joining: JoinAttempt
    ) async -> Result<any ChannelMembership, EngineError> {
        let transport = self.transport
        let limit = configuration.callDeadline * 2
        leave()
        let result = await outcome(
            within: limit, abandonedBy: joining
        ) { () async throws(EngineError) in
            try await transport.join(request, receiver: session)
        } late: { membership in
            // Nobody is to stand there whom the engine does not know of.
            await membership.leave()
        }
        // To be put away, too, so that nothing cuts it short; and nobody shuts the engine down meanwhile.
        _ = await turnstile.enter()
        if let result { return result }
        if Task.isCancelled || joining.isAbandoned {
            return .failure(Self.cancelled("joining channel \(request.channel)"))
        }
        return .failure(
            EngineError(
                .stuck, call: "join",
                message: "the channel \"\(request.channel)\" has not answered within \(limit)"))
    }

    /// What the engine does in the channel from here on: a broadcaster starts the source and sends, an
    /// audience stops both. Out of a channel it has no meaning: ``joinChannel(_:token:userID:role:)``
    /// takes the role.
    ///
    /// - Throws: ``EngineError/Code/notInChannel``, or why the source does not start: the role stays.
    public func setClientRole(_ role: ChannelRole) async throws(EngineError) {
        try await enter(channelTurnstile)
        defer { channelTurnstile.leave() }
        try await enter()
        defer { leave() }
        guard membership != nil else {
            throw EngineError(.notInChannel, message: "not in a channel")
        }
        guard role != self.role else { return }
        switch role {
        case .broadcaster: try await goOnAir()
        case .audience:
            await release(.channel)
            await stopPublishing()
        }
        self.role = role
    }

    /// Leaves the channel, and lets its hold on the source go; a preview stays.
    ///
    /// - Returns: What the engine had done when it left.
    /// - Throws: ``EngineError/Code/notInChannel``.
    @discardableResult
    public func leaveChannel() async throws(EngineError) -> EngineStatistics {
        try await enter(channelTurnstile)
        defer { channelTurnstile.leave() }
        try await enter()
        defer { leave() }
        guard membership != nil else {
            throw EngineError(.notInChannel, message: "not in a channel")
        }
        let statistics = statisticsNow()
        await leaveNow()
        return statistics
    }

    func leaveNow(because error: EngineError? = nil) async {
        let (left, name) = (membership, channel?.channel ?? "")
        // The source first, and what it delivered is sent before the end.
        await release(.channel)
        await stopPublishing()
        await dismiss(left, session)
        if holds.isEmpty { stopHeartbeat() }
        hub.post(error.map { .disconnected($0) } ?? .left(channel: name))
    }

    /// Ends a stay in a channel, or one that came to nothing.
    private func dismiss(_ left: (any ChannelMembership)?, _ session: RemoteSession?) async {
        (membership, self.session, channel) = (nil, nil, nil)
        if let left {
            let limit = configuration.callDeadline
            // It goes on by itself where it takes longer; nothing of it is heard any more.
            _ = await outcome(within: limit) { () async throws(EngineError) in await left.leave() }
        }
        session?.end()
        await takeDown { !$0.isLocal }
        await takeDownAudioSinks { !$0.isLocal }
    }

    /// The transport says that the channel is gone.
    private func lost(_ session: RemoteSession, _ error: EngineError) async {
        do throws(EngineError) { try await enter(channelTurnstile) } catch { return }
        defer { channelTurnstile.leave() }
        do throws(EngineError) { try await enter() } catch { return }
        defer { leave() }
        guard self.session === session else { return }
        await leaveNow(because: error)
    }

    /// The channel that the engine is in.
    public var currentChannel: ChannelRequest? { membership == nil ? nil : channel }

    /// The others in the channel.
    nonisolated public var remoteUsers: Set<UserID> { remote.users }
}
