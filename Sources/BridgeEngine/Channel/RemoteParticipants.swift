internal import MediaCore
internal import Synchronization

/// Handles the events of the engine's channel and passes each user's video to its video sinks.
/// Thread: any.
final class RemoteParticipants: Sendable {
    private typealias Key = EngineStatistics.RemoteTrack
    private struct State {
        var streams: [Key: RemoteVideo] = [:]
        var users: Set<UserID> = []
        var removed = Departed<EngineStatistics.RemoteTrack, EngineStatistics.Remote>()
        /// Removed streams whose last units have no counted outcome yet.
        var leaving: [(key: Key, stream: RemoteVideo)] = []
        /// The membership in the current channel; `nil` before joining and after leaving.
        var membership: (any ChannelMembership)?
        /// The demands that were last sent to the channel.
        var demands: [Key: VideoLimit] = [:]
        /// Keeps the sound and the pictures of each user in sync.
        var delays: [UserID: PlayoutDelay] = [:]

        /// Removes streams without receivers. A stream is created for every user that joins; a
        /// stream that still has video sinks is kept for the user's return.
        ///
        /// - Returns: The streams whose user or track is gone.
        mutating func prune(_ hasEnded: (Key) -> Bool) -> [RemoteVideo] {
            let ended = streams.filter { hasEnded($0.key) }
            for (key, stream) in ended {
                guard stream.video.isIdle else { continue }
                streams[key] = nil
                if stream.received > 0 { leaving.append((key, stream)) }
            }
            delays = delays.filter { entry in
                users.contains(entry.key) || streams.keys.contains { $0.user == entry.key }
            }
            return Array(ended.values)
        }

        /// Keeps the final counts of a stream that was removed.
        mutating func depart(_ stream: RemoteVideo) {
            guard let place = leaving.firstIndex(where: { $0.stream === stream }) else { return }
            let key = leaving.remove(at: place).key
            removed.add(key, stream.counts(now: nil))
        }
    }
    private let state = Mutex(State())
    let audio: RemoteAudioReceiver
    private let clock: EngineClock
    private let backend: any MediaBackend
    private let events: EventHub<EngineEvent>
    private let queueTimeout: Duration

    init(
        clock: EngineClock, backend: any MediaBackend, events: EventHub<EngineEvent>,
        queueTimeout: Duration, jitterBuffer: JitterBufferConfiguration
    ) {
        self.queueTimeout = queueTimeout
        self.clock = clock
        self.backend = backend
        self.events = events
        audio = RemoteAudioReceiver(
            clock: clock, backend: backend, events: events, jitterBuffer: jitterBuffer)
    }

    /// The other users in the channel.
    var users: Set<UserID> { state.withLock { $0.users } }

    // MARK: Video sinks

    /// Adds a video sink to a user's track. The user need not be in the channel yet.
    func attach(
        _ feed: VideoSinkFeed, to user: UserID, _ track: TrackID, for request: RenderRequest
    ) {
        connect(user, track) {
            $0.attach(feed, for: request)
        } undo: {
            $0.detach(feed)
        }
    }

    func detach(_ feed: VideoSinkFeed, from user: UserID, _ track: TrackID) {
        disconnect(user, track) { $0.detach(feed) }
    }

    func tap(_ consumer: any VideoFrameConsumer, on user: UserID, _ track: TrackID) {
        connect(user, track) {
            $0.tap(consumer)
        } undo: {
            $0.untap(consumer)
        }
    }

    func untap(_ consumer: any VideoFrameConsumer, from user: UserID, _ track: TrackID) {
        disconnect(user, track) { $0.untap(consumer) }
    }

    /// Connects to a stream. If the stream was removed meanwhile, connects to its replacement.
    private func connect(
        _ user: UserID, _ track: TrackID, _ body: (VideoStream) -> Void,
        undo: (VideoStream) -> Void
    ) {
        let key = Key(user: user, track: track)
        defer { reportDemand(for: key) }
        while true {
            let stream = stream(of: user, track)
            body(stream.video)
            let isThere = state.withLock { state in
                let present = state.streams[key] ?? stream
                state.streams[key] = present
                return present === stream
            }
            if isThere { return }
            undo(stream.video)
        }
    }

    private func disconnect(_ user: UserID, _ track: TrackID, _ body: (VideoStream) -> Void) {
        let key = Key(user: user, track: track)
        guard let stream = state.withLock({ $0.streams[key] }) else { return }
        body(stream.video)
        reportDemand(for: key)
        end { state in state.users.contains(user) ? [] : state.prune { $0 == key } }
    }

    /// Ends the tracks that `prune` returns, outside the lock, because that releases their frames.
    private func end(_ prune: (inout State) -> [RemoteVideo]) {
        for stream in state.withLock({ prune(&$0) }) {
            stream.restart()
            stream.settled { [weak self] in self?.state.withLock { $0.depart(stream) } }
        }
    }

    // MARK: Demand

    /// Sends the demands for the tracks of other users to a channel.
    func begin(_ membership: any ChannelMembership) {
        let keys = state.withLock { state in
            state.membership = membership
            return Array(state.streams.keys)
        }
        for key in keys { reportDemand(for: key) }
    }

    /// Sends the demand for a track to the channel, if it has changed.
    private func reportDemand(for key: Key) {
        let (membership, demand) = state.withLock {
            state -> ((any ChannelMembership)?, VideoLimit?) in
            let demand = state.streams[key]?.video.demand
            guard let membership = state.membership, state.demands[key] != demand else {
                return (nil, nil)
            }
            state.demands[key] = demand
            return (membership, demand)
        }
        membership?.setDemand(demand, key.track, of: key.user)
    }

    private func requestKeyFrame(_ key: Key) {
        state.withLock { $0.membership }?.requestKeyFrame(key.track, of: key.user)
    }

    // MARK: Events of the channel

    /// Forgets all users.
    func clear() {
        let membership = state.withLock { state in
            state.demands = [:]
            return state.membership.take()
        }
        // Not released under the lock.
        _ = consume membership
        end { state in
            state.users = []
            return state.prune { _ in true }
        }
        audio.clear()
    }

    func handle(_ event: MembershipEvent) {
        switch event {
        case .joined(let user):
            state.withLock { _ = $0.users.insert(user) }
            events.post(.userJoined(user))
        case .left(let user, let reason):
            end { state in
                state.users.remove(user)
                return state.prune { $0.user == user }
            }
            audio.forget(user)
            events.post(.userOffline(user, reason))
        case .published(let stream, let user):
            switch stream {
            case .video(let track): present(track, of: user)?.restart()
            case .audio: audio.published(by: user)
            }
            events.post(.published(stream, by: user))
        case .unpublished(let stream, let user):
            switch stream {
            case .video(let track):
                end { state in state.prune { $0 == Key(user: user, track: track) } }
            case .audio: audio.unpublished(by: user)
            }
            events.post(.unpublished(stream, by: user))
        case .muted(let isMuted, let stream, let user):
            switch stream {
            // The time without frames is no freeze.
            case .video(let track): present(track, of: user)?.video.markInterruption()
            case .audio: audio.muted(by: user)
            }
            events.post(.muted(isMuted, stream, by: user))
        case .message(let message, let user): events.post(.messageReceived(message, from: user))
        case .reconnecting(let attempt, let error):
            events.post(.reconnecting(attempt: attempt, error))
        case .reconnected: events.post(.reconnected)
        case .disconnected: break  // The session handles it.
        }
    }

    func receive(_ media: consuming ChannelMedia, _ stream: MediaTrackID, from user: UserID) {
        switch (media, stream) {
        case (.picture(var frame), .video(let track)):
            frame.convertTime(to: clock)
            self.stream(of: user, track).receive(frame)
        case (.unit(var unit), .video(let track)):
            let shift = unit.convertTime(to: clock)
            unit.decodingTime = unit.decodingTime.map { $0 + shift }
            self.stream(of: user, track).receive(unit)
        case (.samples(var frame), .audio):
            frame.convertTime(to: clock)
            audio.receive(frame, from: user, delay: delay(of: user))
        case (.audioUnit(var unit), .audio):
            unit.convertTime(to: clock)
            audio.receive(unit, from: user, delay: delay(of: user))
        default: break  // No transport mixes them up.
        }
    }

    private func delay(of user: UserID) -> PlayoutDelay {
        state.withLock { state in
            if let delay = state.delays[user] { return delay }
            let delay = PlayoutDelay()
            state.delays[user] = delay
            return delay
        }
    }

    /// Passes the jitter that the channel measures to the mixer, which waits for late audio.
    func noteJitter() {
        guard let membership = state.withLock({ $0.membership }) else { return }
        let statistics = membership.statistics
        audio.mixer.expect(jitter: statistics.audioJitter.mapValues { MediaTime($0) })
    }

    private func present(_ track: TrackID, of user: UserID) -> RemoteVideo? {
        state.withLock { $0.streams[Key(user: user, track: track)] }
    }

    private func stream(of user: UserID, _ track: TrackID) -> RemoteVideo {
        let key = Key(user: user, track: track)
        if let stream = state.withLock({ $0.streams[key] }) { return stream }
        let events = self.events
        let fresh = RemoteVideo(
            backend, clock, queueTimeout: queueTimeout, delay: delay(of: user), track: track,
            RemoteVideo.Listener(
                onFirst: { events.post(.firstFrame(.remote(user, track), $0)) },
                onFailure: { error in
                    events.post(
                        .warning("\(user)'s \(track) cannot be decoded: \(error)"))
                },
                onKeyFrameNeeded: { [weak self] in self?.requestKeyFrame(key) }))
        return state.withLock { state in
            let stream = state.streams[key] ?? fresh
            state.streams[key] = stream
            return stream
        }
    }

    func addStatistics(to statistics: inout EngineStatistics, now: MediaTime) {
        var (streams, removed, leaving) = state.withLock { ($0.streams, $0.removed, $0.leaving) }
        for (key, stream) in leaving { removed.add(key, stream.counts(now: now)) }
        for (key, stream) in streams where stream.received > 0 {
            statistics.remote[key.user, default: [:]][key.track] = stream.counts(now: now)
        }
        statistics.removed.remote = removed
        (statistics.remoteAudio, statistics.removed.remoteAudio) = audio.statistics
    }
}

// MARK: The session

/// One membership of the engine in a channel, as the transport's receiver. Events and frames that
/// arrive after its end are ignored.
final class RemoteSession: ChannelReceiver {
    let channel: String
    let user: UserID
    private let side: RemoteParticipants
    private let events: EventHub<EngineEvent>
    private let renewToken: (@Sendable () async throws -> String?)?
    private let onDisconnect: @Sendable (RemoteSession, EngineError) -> Void
    private let isOver = Atomic<Bool>(false)
    private let isReported = Atomic<Bool>(false)

    init(
        _ request: ChannelRequest, to side: RemoteParticipants, events: EventHub<EngineEvent>,
        renewingToken renewToken: (@Sendable () async throws -> String?)?,
        onDisconnect: @escaping @Sendable (RemoteSession, EngineError) -> Void
    ) {
        channel = request.channel
        user = request.userID
        self.side = side
        self.events = events
        self.renewToken = renewToken
        self.onDisconnect = onDisconnect
    }

    /// Posts the `joined` event once, before any other event of the channel.
    func noteJoined() {
        guard !isReported.exchange(true, ordering: .relaxed) else { return }
        events.post(.joined(channel: channel, as: user))
    }

    /// Ends the session: later events and frames are ignored.
    func end() {
        isOver.store(true, ordering: .releasing)
        side.clear()
    }

    /// Whether ``noteJoined()`` was called.
    var wasReported: Bool { isReported.load(ordering: .relaxed) }

    /// The receiver of frames; `nil` after the end.
    private var present: RemoteParticipants? {
        isOver.load(ordering: .acquiring) ? nil : side
    }

    // MARK: ChannelReceiver

    func handle(_ event: MembershipEvent) {
        guard let present else { return }
        if case .disconnected(let error) = event { return onDisconnect(self, error) }
        noteJoined()
        present.handle(event)
    }

    func receive(_ media: consuming ChannelMedia, _ stream: MediaTrackID, from user: UserID) {
        present?.receive(media, stream, from: user)
    }

    func token(for reason: TokenReason) async throws(EngineError) -> String? {
        guard let renewToken else { return nil }
        do {
            return try await renewToken()
        } catch {
            throw error as? EngineError
                ?? EngineError(
                    .tokenMissing, message: "cannot renew the token for channel \(channel)",
                    underlying: error)
        }
    }
}
