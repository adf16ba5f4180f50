internal import MediaCore
internal import Synchronization

/// What an engine hears from its channel, and where each user's pictures go.
final class RemoteSide: ChannelReceiver {
    /// One user's track.
    final class Stream: Sendable {
        let video: VideoStream
        let meter = FrameMeter()
        let isFirst = Atomic<Bool>(true)
        init(_ video: VideoStream) { self.video = video }
    }
    private struct Key: Hashable {
        let user: UserID
        let track: TrackID
    }
    private struct State {
        var streams: [Key: Stream] = [:]
        var users: Set<UserID> = []
        /// Who the engine is in the channel, until it was told.
        var newcomer: (channel: String, user: UserID)?
        var onDisconnect: (@Sendable (EngineError) -> Void)?
    }
    private let state = Mutex(State())
    private let clock: EngineClock
    private let backend: any MediaBackend
    private let events: EventHub

    init(clock: EngineClock, backend: any MediaBackend, events: EventHub) {
        self.clock = clock
        self.backend = backend
        self.events = events
    }

    var onDisconnect: (@Sendable (EngineError) -> Void)? {
        get { state.withLock { $0.onDisconnect } }
        set { state.withLock { $0.onDisconnect = newValue } }
    }

    func stream(of user: UserID, _ track: TrackID) -> Stream {
        state.withLock { state in
            let key = Key(user: user, track: track)
            if let stream = state.streams[key] { return stream }
            let stream = Stream(VideoStream(backend))
            state.streams[key] = stream
            return stream
        }
    }

    /// Those who are in the channel.
    var users: Set<UserID> { state.withLock { $0.users } }

    /// Before joining.
    func prepare(_ channel: String, as user: UserID) {
        state.withLock { $0.newcomer = (channel, user) }
    }

    /// Tells that the engine is in, once, before anything else that happens there.
    func noteJoined() {
        let newcomer = state.withLock { state in
            defer { state.newcomer = nil }
            return state.newcomer
        }
        guard let newcomer else { return }
        events.post(.joined(channel: newcomer.channel, as: newcomer.user))
    }

    /// After leaving: nobody is there any more.
    func clear() {
        state.withLock { state in
            state.users = []
            state.newcomer = nil
            state.streams.values.forEach { $0.isFirst.store(true, ordering: .relaxed) }
        }
    }

    // MARK: ChannelReceiver

    func userJoined(_ user: UserID) {
        noteJoined()
        state.withLock { _ = $0.users.insert(user) }
        events.post(.userJoined(user))
    }

    func userLeft(_ user: UserID, reason: OfflineReason) {
        state.withLock { state in
            state.users.remove(user)
            for (key, stream) in state.streams where key.user == user {
                stream.isFirst.store(true, ordering: .relaxed)
            }
        }
        events.post(.userOffline(user, reason))
    }

    func trackPublished(_ track: TrackID, by user: UserID) {
        noteJoined()
        stream(of: user, track).isFirst.store(true, ordering: .relaxed)
        events.post(.trackPublished(track, by: user))
    }

    func trackUnpublished(_ track: TrackID, by user: UserID) {
        events.post(.trackUnpublished(track, by: user))
    }

    func receive(_ frame: consuming VideoFrame, track: TrackID, from user: UserID) {
        let stream = stream(of: user, track)
        var frame = frame
        if let live = frame.liveTiming {
            // The sender's running time becomes the receiver's: the clock is the same.
            frame.runningTime = frame.runningTime.map { $0 + live.clockOrigin - clock.origin }
            frame.liveTiming?.clockOrigin = clock.origin
        }
        stream.meter.note(frame.format)
        if stream.isFirst.load(ordering: .relaxed),
            stream.isFirst.exchange(false, ordering: .relaxed)
        {
            events.post(
                .firstRemoteFrame(
                    user, track, VideoSize(width: frame.width, height: frame.height)))
        }
        stream.video.consume(frame)
    }

    func disconnected(_ error: EngineError) { onDisconnect?(error) }

    func statistics(now: MediaTime) -> [UserID: [TrackID: EngineStatistics.Remote]] {
        var all: [UserID: [TrackID: EngineStatistics.Remote]] = [:]
        for (key, stream) in state.withLock({ $0.streams }) where stream.meter.frames > 0 {
            all[key.user, default: [:]][key.track] = EngineStatistics.Remote(
                received: stream.meter.frames, frameRate: stream.meter.rate(at: now),
                size: stream.meter.lastSize)
        }
        return all
    }
}
