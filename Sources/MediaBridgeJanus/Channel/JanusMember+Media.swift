internal import BridgeEngine

// Media connections.
extension JanusMember {
    // MARK: Sending

    /// Starts a connection if anything is announced, or notifies the existing connection of a
    /// change.
    func updateSending(_ feed: FeedID) {
        guard phase == .up, let live else { return }
        let media = self.media(of: feed.track)
        guard sending[feed] == nil else { return media.signals.send(.changed) }
        guard media.isAnnounced else { return }
        let connection = SendingConnection(
            media: media, configuration: configuration.connection,
            reconnection: configuration.reconnection.policy, hasAudio: feed.track == .main,
            attach: attaching(live, media.signals, joiningAs: feed),
            release: { [handles] handle in
                handles[handle.id] = nil
                if feed.track != .main { handle.detach() }
            })
        let before = ending.removeValue(forKey: feed)
        let number = live.number
        let task = Task {
            await before?.value
            let error = await connection.run()
            self.sendingEnded(feed, number, error)
        }
        sending[feed] = Sending(task: task, number: number)
    }

    /// Attaches the handle of a connection: the user's own handle for the main track that it
    /// publishes, otherwise a separate one.
    ///
    /// - Parameter feed: The published track; `nil` to receive.
    private func attaching(
        _ live: Live, _ signals: CurrentSignals, joiningAs feed: FeedID? = nil
    ) -> @Sendable () async throws(JanusFailure) -> JanusHandle {
        { [handles, credentials] () async throws(JanusFailure) in
            guard feed?.track != .main else {
                handles[live.handle.id] = signals
                return live.handle
            }
            let handle = try await JanusHandle.attach(to: live.session)
            do throws(JanusFailure) {
                if let feed { _ = try await handle.request(credentials.joining(as: feed)) }
            } catch {
                handle.detach()
                throw error
            }
            handles[handle.id] = signals
            return handle
        }
    }

    private func sendingEnded(_ feed: FeedID, _ number: Int, _ error: EngineError?) {
        guard let ended = sending[feed], ended.number == number else { return }
        sending[feed] = nil
        let media = self.media(of: feed.track)
        if let error { return media.fail(error) }
        // The track was announced again while the connection ended.
        if !ended.task.isCancelled, media.isAnnounced { updateSending(feed) }
    }

    func stopSending(_ feed: FeedID) {
        guard let stopped = sending.removeValue(forKey: feed) else { return }
        stopped.task.cancel()
        end(feed, stopped.task)
    }

    /// Stores the task that ends a connection, so that the participant's next connection waits for
    /// it.
    private func end(_ feed: FeedID, _ task: Task<Void, Never>) {
        let before = ending[feed]
        ending[feed] = Task {
            await before?.value
            await task.value
        }
    }

    // MARK: Receiving

    /// Adjusts the connections to what the room publishes and the user wants.
    func updateReceiving() {
        for (feed, present) in receiving {
            let next = directory.feeds[feed]
            let isSame =
                next?.video?.mid == present.feed.video?.mid
                && next?.audio?.mid == present.feed.audio?.mid
            if !isSame || !isNeeded(feed) { stopReceiving(feed) }
        }
        guard phase == .up, let live else { return }
        for (id, feed) in directory.feeds where isNeeded(id) {
            if receiving[id] == nil { receiving[id] = startReceiving(id, feed, live) }
            receiving[id]?.media.setStreams(
                video: wants(id.track, of: id.user)
                    ? streams[StreamID(user: id.user, stream: .video(id.track))] : nil,
                audio: id.track == .main ? streams[StreamID(user: id.user, stream: .audio)] : nil)
            receiving[id]?.media.signals.send(.changed)
        }
    }

    /// Whether anything is to be received from a participant: a track that is wanted, or audio.
    private func isNeeded(_ feed: FeedID) -> Bool {
        guard directory.feeds[feed] != nil else { return false }
        let hasAudio = feed.track == .main && directory.hasAnnounced(.audio, of: feed.user)
        let hasVideo =
            directory.hasAnnounced(.video(feed.track), of: feed.user)
            && wants(feed.track, of: feed.user)
        return hasAudio || hasVideo
    }

    private func wants(_ track: TrackID, of user: UserID) -> Bool {
        if let stated = demands[StreamID(user: user, stream: .video(track))] {
            return stated != nil
        }
        return request.wantsAllTracks
    }

    private func startReceiving(_ id: FeedID, _ feed: Feed, _ live: Live) -> Receiving {
        let media = IncomingMedia(id)
        let connection = ReceivingConnection(
            media: media, video: feed.video?.mid,
            audio: id.track == .main ? feed.audio?.mid : nil,
            configuration: configuration.connection,
            reconnection: configuration.reconnection.policy,
            request: { [credentials] in credentials.subscribing() },
            attach: attaching(live, media.signals),
            release: { [handles] handle in
                handles[handle.id] = nil
                handle.detach()
            },
            onConnection: { [ledger] in ledger.setConnection($0, of: id) })
        let before = ending.removeValue(forKey: id)
        let task = Task {
            await before?.value
            await connection.run()
        }
        return Receiving(media: media, task: task, feed: feed)
    }

    func stopReceiving(_ feed: FeedID) {
        guard let stopped = receiving.removeValue(forKey: feed) else { return }
        stopped.media.setStreams(video: nil, audio: nil)
        stopped.task.cancel()
        end(feed, stopped.task)
    }
}
