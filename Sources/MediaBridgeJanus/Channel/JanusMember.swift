internal import BridgeEngine
internal import MediaBasics
internal import MediaBridgeWebRTC
internal import Synchronization

/// One user in one room, from joining to leaving, through interruptions.
///
/// Everything that happens comes through one stream of inputs and is handled in order; what takes time
/// (requests, connections) runs in tasks of its own and looks again at how things are when it is done.
actor JanusMember {
    /// What happens.
    enum Input: Sendable {
        /// In the session of a number.
        case session(JanusSession.Event, Int)
        /// What one connection is to send has changed.
        case outgoing(FeedID)
        case want(VideoDemand?, TrackID, UserID)
        case keyFrame(TrackID, UserID)
        /// The token expires soon.
        case tokenExpires
        /// The membership was released.
        case abandoned
    }
    enum Phase { case joining, up, reconnecting, over }

    /// The session that is used now, with the handle of the user.
    struct Live {
        let session: JanusSession
        let handle: JanusHandle
        let number: Int
    }
    struct StreamID: Hashable {
        let user: UserID
        /// `nil` for audio.
        let track: TrackID?
    }
    struct Sending {
        let task: Task<Void, Never>
        let current: CurrentSignals
        let number: Int
    }
    struct Receiving {
        let media: IncomingMedia
        let task: Task<Void, Never>
        let current: CurrentSignals
        let feed: Feed
        let number: Int
    }

    nonisolated let request: ChannelRequest
    nonisolated let address: ServerAddress
    nonisolated let configuration: JanusTransport.Configuration
    nonisolated let inbox: Inbox
    nonisolated let ledger = Ledger()
    nonisolated let credentials: Credentials
    nonisolated let handles = HandleTable()
    private nonisolated let outgoing = Mutex<[TrackID: OutgoingMedia]>([:])
    private nonisolated let inputs: AsyncStream<Input>
    private nonisolated let continuation: AsyncStream<Input>.Continuation
    /// The number of messages of the server that wait to be handled.
    private nonisolated let waitingEvents = Atomic<Int>(0)

    var phase = Phase.joining
    var live: Live?
    /// The session that is being opened.
    var opening: JanusSession?
    var sessionNumber = 0
    /// The server's name of the last session, which it may not have missed yet.
    var lastSession: Int?
    var directory: Directory
    var demands: [StreamID: VideoDemand?] = [:]
    var streams: [StreamID: IncomingStream] = [:]
    var sending: [FeedID: Sending] = [:]
    var receiving: [FeedID: Receiving] = [:]
    /// Connections that are being closed.
    var ending: [FeedID: Task<Void, Never>] = [:]
    var tasks: [String: Task<Void, Never>] = [:]
    /// Rings before the token expires.
    var tokenAlarm: OneShotTimer?
    var outbox = Outbox()
    var lastStamps: [UserID: Notice.Stamp] = [:]
    /// Whether the receiver was told that the connection is interrupted.
    var isInterruptionTold = false

    init(
        _ request: ChannelRequest, at address: ServerAddress,
        _ configuration: JanusTransport.Configuration, _ inbox: Inbox
    ) {
        self.request = request
        self.address = address
        self.configuration = configuration
        self.inbox = inbox
        credentials = Credentials(request, pin: configuration.pin)
        directory = Directory(own: request.userID)
        (inputs, continuation) = AsyncStream.makeStream()
    }

    // MARK: From other threads

    /// What the user sends of a track; audio goes with the main track.
    nonisolated func media(of track: TrackID) -> OutgoingMedia {
        outgoing.withLock { table in
            if let media = table[track] { return media }
            let feed = FeedID(user: request.userID, track: track)
            let media = OutgoingMedia(feed, inbox, ledger) { [continuation] in
                continuation.yield(.outgoing(feed))
            }
            table[track] = media
            return media
        }
    }

    nonisolated var allOutgoing: [OutgoingMedia] { outgoing.withLock { Array($0.values) } }

    nonisolated func note(_ input: Input) { continuation.yield(input) }

    /// Called by a session, on a thread of its own.
    ///
    /// - Returns: False if more messages wait than may.
    private nonisolated func note(_ event: JanusSession.Event, _ number: Int) -> Bool {
        let waiting = waitingEvents.add(1, ordering: .relaxed).newValue
        continuation.yield(.session(event, number))
        return waiting <= Inbox.capacity
    }

    nonisolated func makeEventHandler(_ number: Int) -> @Sendable (JanusSession.Event) -> Void {
        { [weak self] event in
            guard let self else { return }
            if !note(event, number) {
                Task {
                    await self.finish(
                        EngineError(
                            .disconnected,
                            message:
                                "more than \(Inbox.capacity) messages from the server are waiting"))
                }
            }
        }
    }

    // MARK: Life

    /// Joins the room and begins to handle what happens.
    func join() async throws(EngineError) {
        tasks["inputs"] = Task { [inputs] in
            for await input in inputs { self.handle(input) }
        }
        try await connect()
        guard phase == .joining else { throw Self.left(request) }
        phase = .up
        begin()
    }

    /// Continues what a connection allows: after joining, and after each interruption.
    func begin() {
        watchToken()
        for media in allOutgoing {
            media.retry()
            updateSending(media.feed)
        }
        updateReceiving()
        pumpOutbox()
    }

    private func handle(_ input: Input) {
        switch input {
        case .session(let event, let number):
            waitingEvents.subtract(1, ordering: .relaxed)
            guard phase != .over else { return }
            handle(event, number)
        case .outgoing(let feed): updateSending(feed)
        case .want(let demand, let track, let user):
            demands[StreamID(user: user, track: track)] = .some(demand)
            updateReceiving()
        case .keyFrame(let track, let user):
            receiving[FeedID(user: user, track: track)]?.media.requestKeyFrame()
        case .tokenExpires:
            if phase == .up { tasks["token"] = Task { await self.renewToken() } }
        case .abandoned: Task { await leave() }
        }
    }

    /// Ends the membership because of an error.
    func finish(_ error: EngineError) {
        guard phase != .over else { return }
        inbox.seal(with: error)
        stop(error)
        let (live, opening) = (self.live.take(), self.opening.take())
        live?.session.close()
        opening?.close()
    }

    /// Leaves the room. A second call waits as well.
    func leave() async {
        let (live, opening) = (self.live.take(), self.opening.take())
        opening?.close()
        stop(Self.left(request))
        let ending = self.ending.values
        // In a task of its own, because a caller that was cancelled leaves as well.
        if let live { await Task { await self.sayGoodbye(live) }.value }
        for task in ending { await task.value }
    }

    /// Ends everything that runs, but the session.
    private func stop(_ reason: EngineError) {
        guard phase != .over else { return }
        phase = .over
        for feed in sending.keys { stopSending(feed) }
        for feed in receiving.keys { stopReceiving(feed) }
        for media in allOutgoing { media.close() }
        for stream in streams.values { stream.close() }
        streams = [:]
        outbox.fail(with: reason)
        for task in tasks.values { task.cancel() }
        tasks = [:]
        tokenAlarm = nil
        continuation.finish()
    }

    /// Tells the others and the server, which may be gone. Each request waits for the answer to the one
    /// before: Janus handles requests on several threads, and a leave that overtook the goodbye would
    /// make the others believe that the user was dropped.
    private func sayGoodbye(_ live: Live) async {
        do throws(JanusFailure) {
            _ = try await live.handle.request([
                "request": "configure", "display": .string(Notice.goodbye.text),
            ])
            _ = try await live.handle.request(["request": "leave"])
            _ = try await live.session.request(["janus": "destroy"])
        } catch {
            // The session ends with its connection.
        }
        live.session.close()
    }

    static func left(_ request: ChannelRequest) -> EngineError {
        EngineError(
            .notInChannel, message: "\(request.userID) is not in channel \(request.channel)")
    }
}
