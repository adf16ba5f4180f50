internal import MediaBasics
internal import MediaCore

/// The role of a user in a channel.
public enum ChannelRole: Sendable {
    /// Sends and receives.
    case broadcaster
    /// Only receives; the source is not started.
    case audience
}

extension MediaEngine {
    /// Joins a channel: starts the source, unless the preview holds it already, sends its frames,
    /// and passes the other users' frames to their video sinks.
    ///
    /// Until the channel has answered, all other operations of the engine except those on channels
    /// are possible. Cancelling the task ends the attempt.
    ///
    /// - Parameters:
    ///   - channel: The name of the channel.
    ///   - token: The token that admits the user; `nil` if the channel requires none.
    ///   - userID: The id of the user, unique in the channel.
    ///   - role: Whether to send and receive, which is the default, or only to receive.
    ///   - renewToken: Returns another token when the channel asks for one: after an interruption, and
    ///     before a token expires. By default the first one is used again.
    /// - Throws: ``EngineError``: ``EngineError/Code/alreadyInChannel``, one of the codes for
    ///   tokens and user ids, ``EngineError/Code/stuck`` if the channel does not answer,
    ///   ``EngineError/Code/cancelled``, or the reason why the source does not start. The engine is
    ///   not in the channel then.
    public func joinChannel(
        _ channel: String, token: String? = nil, userID: UserID,
        role: ChannelRole = .broadcaster, renewingToken renewToken: TokenRenewal? = nil
    ) async throws(EngineError) {
        let what = "joining channel \(channel)"
        try await enter(channelTurnstile, cancelling: what)
        defer { channelTurnstile.leave() }
        if let current = self.channel {
            throw EngineError(
                .alreadyInChannel, message: "already in channel \(current.channel)",
                advice: "leaveChannel() first")
        }
        try await enter(cancelling: what)
        defer { leave() }
        let request = ChannelRequest(
            channel: channel, token: token, userID: userID, wantsAllTracks: false)
        try await join(request, role, renewToken)
    }

    /// Returns a token that is valid now; `nil` to reuse the previous one.
    public typealias TokenRenewal = @Sendable () async throws -> String?

    /// Called inside both turnstiles.
    private func join(
        _ request: ChannelRequest, _ role: ChannelRole, _ renewToken: TokenRenewal?
    ) async throws(EngineError) {
        let session = RemoteSession(
            request, to: remote, events: hub, renewingToken: renewToken
        ) { [weak self] session, error in
            ControlTask.start { [weak self] in await self?.lost(session, error) }
        }
        // From here on, video sinks of other users are started when they are added.
        let joining = Once<JoinAnswer>()
        self.joining = joining
        // Video sinks are started first, so that they miss no frame.
        await bringUpSinks(VideoMedia.self) { !$0.isLocal }
        await bringUpSinks(AudioMedia.self) { !$0.isLocal }
        let answer = await reach(request, session, joining)
        self.joining = nil
        do throws(EngineError) {
            let membership = try answer.get()
            self.membership = membership
            remote.begin(membership)
            (self.session, self.channel, self.role) = (session, request, role)
            session.noteJoined()
            updatePlayback()
            startHeartbeat()
            if role == .broadcaster { try await startBroadcast() }
        } catch {
            await dismiss(membership, session)
            if holds.isEmpty { stopHeartbeat() }
            if session.wasReported { hub.post(.left(channel: request.channel)) }
            throw error
        }
    }

    /// A channel's answer to joining.
    typealias JoinAnswer = Result<any ChannelMembership, EngineError>

    /// Asks the transport to join. Other operations may use the engine meanwhile.
    private func reach(
        _ request: ChannelRequest, _ session: RemoteSession, _ joining: Once<JoinAnswer>
    ) async -> JoinAnswer {
        guard let transport else { return .failure(Self.noChannel) }
        let limit = configuration.joinTimeout
        leave()
        let result = await outcome(
            within: limit, on: clock.timeline, to: joining, isCancellable: true
        ) { () async throws(EngineError) in
            try await transport.join(request, receiver: session)
        } late: { membership in
            // The engine does not know this membership, so it must leave the channel.
            await membership.leave()
        }
        // Not cancellable, because clean-up follows in any case. The engine cannot be shut down
        // meanwhile.
        _ = await turnstile.enter()
        if let result { return result }
        if Task.isCancelled || self.joining == nil {
            return .failure(EngineError.cancelled("joining channel \(request.channel)"))
        }
        return .failure(
            EngineError(
                .stuck, call: "join",
                message: "channel \(request.channel) did not answer within \(limit)"))
    }

    /// Changes the role in the current channel: a broadcaster starts the source and sends, an
    /// audience member stops both. Outside a channel, pass the role to
    /// ``joinChannel(_:token:userID:role:renewingToken:)``.
    ///
    /// - Throws: ``EngineError/Code/notInChannel``, or the reason why the source does not start;
    ///   the role is unchanged then.
    public func setClientRole(_ role: ChannelRole) async throws(EngineError) {
        try await enter(channelTurnstile)
        defer { channelTurnstile.leave() }
        try await enter()
        defer { leave() }
        guard membership != nil else { throw Self.notInChannel }
        guard role != self.role else { return }
        switch role {
        case .broadcaster: try await startBroadcast()
        case .audience:
            await release(.channel)
            await stopPublishing()
        }
        self.role = role
    }

    /// Sends a message to one user of the channel or to all others. They get
    /// ``EngineEvent/messageReceived(_:from:)``; messages arrive whole, once and in order.
    ///
    /// - Parameters:
    ///   - message: At most ``ChannelMessage/maximumSize`` bytes.
    ///   - user: The recipient; `nil`, the default, for all others.
    /// - Throws: ``EngineError/Code/notInChannel``; ``EngineError/Code/invalidArgument`` for a
    ///   message that is too long or a user that is not in the channel; ``EngineError/Code/stuck``
    ///   if the channel does not accept the message in time.
    public func sendMessage(
        _ message: ChannelMessage, to user: UserID? = nil
    ) async throws(EngineError) {
        guard !isShutDown else { throw EngineError.afterShutDown }
        guard let membership else { throw Self.notInChannel }
        let result = await outcome(within: configuration.callTimeout, on: clock.timeline) {
            () async throws(EngineError) in
            try await membership.send(message, to: user)
        }
        guard let result else {
            throw EngineError(
                .stuck, call: "send",
                message:
                    "the channel did not accept the message within \(configuration.callTimeout)")
        }
        try result.get()
    }

    /// Leaves the channel and releases its hold on the source; a preview continues.
    ///
    /// - Returns: The engine's statistics when it left.
    /// - Throws: ``EngineError/Code/notInChannel``.
    @discardableResult
    public func leaveChannel() async throws(EngineError) -> EngineStatistics {
        try await enter(channelTurnstile)
        defer { channelTurnstile.leave() }
        try await enter()
        defer { leave() }
        guard membership != nil else { throw Self.notInChannel }
        let statistics = statisticsNow()
        await leaveNow()
        return statistics
    }

    func leaveNow(because error: EngineError? = nil) async {
        let (left, name) = (membership, channel?.channel ?? "")
        // The source is stopped first, and the frames it delivered are sent before publishing ends.
        await release(.channel)
        await stopPublishing()
        await dismiss(left, session)
        if holds.isEmpty { stopHeartbeat() }
        hub.post(error.map { .disconnected($0) } ?? .left(channel: name))
    }

    /// Ends a membership, or a join that failed.
    private func dismiss(_ left: (any ChannelMembership)?, _ session: RemoteSession?) async {
        (membership, self.session, channel) = (nil, nil, nil)
        if let left {
            let limit = configuration.callTimeout
            // If it takes longer, it continues without a waiting caller; the session ignores its
            // events.
            _ = await outcome(within: limit, on: clock.timeline) { () async throws(EngineError) in
                await left.leave()
            }
        }
        session?.end()
        await tearDownSinks(VideoMedia.self) { !$0.isLocal }
        await tearDownSinks(AudioMedia.self) { !$0.isLocal }
    }

    /// Called when the transport reports that the channel is gone.
    private func lost(_ session: RemoteSession, _ error: EngineError) async {
        do throws(EngineError) { try await enter(channelTurnstile) } catch { return }
        defer { channelTurnstile.leave() }
        do throws(EngineError) { try await enter() } catch { return }
        defer { leave() }
        guard self.session === session else { return }
        await leaveNow(because: error)
    }

    /// The name of the channel that the engine is in; `nil` if none.
    public var currentChannel: String? { membership == nil ? nil : channel?.channel }

    /// The other users in the channel. Thread: any.
    nonisolated public var remoteUsers: Set<UserID> { remote.users }
}
