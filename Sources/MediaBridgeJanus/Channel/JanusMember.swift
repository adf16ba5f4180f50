internal import BridgeEngine
internal import MediaBasics
internal import MediaBridgeWebRTC
internal import Synchronization

/// One user's membership in one room, from joining to leaving, including interruptions.
///
/// All inputs arrive through one stream and are handled in order. Slow work (requests, connections)
/// runs in separate tasks, which check the current state again when they finish.
actor JanusMember {
    /// Handles an input of the membership.
    typealias Input = @Sendable (isolated JanusMember) -> Void
    enum Phase { case joining, up, reconnecting, over }

    /// The current session, with the user's handle.
    struct Live {
        let session: JanusSession
        let handle: JanusHandle
        let number: Int
    }
    struct StreamID: Hashable {
        let user: UserID
        let stream: MediaTrackID
    }
    struct Sending {
        let task: Task<Void, Never>
        let number: Int
    }
    struct Receiving {
        let media: IncomingMedia
        let task: Task<Void, Never>
        let feed: Feed
    }

    nonisolated let request: ChannelRequest
    nonisolated let address: ServerAddress
    nonisolated let configuration: JanusTransport.Configuration
    nonisolated let queue: ReceiverQueue
    nonisolated let ledger = Ledger()
    nonisolated let credentials: Credentials
    nonisolated let handles = HandleTable()
    private nonisolated let outgoing = Mutex<[TrackID: OutgoingMedia]>([:])
    private nonisolated let inputs: AsyncStream<Input>
    private nonisolated let continuation: AsyncStream<Input>.Continuation
    /// The number of server messages that are waiting to be handled.
    private nonisolated let waitingEvents = Atomic<Int>(0)

    var phase = Phase.joining
    var live: Live?
    /// The session that is being opened.
    var opening: JanusSession?
    var sessionNumber = 0
    /// The server's ID of the last session. The server may not have noticed its end yet.
    var lastSession: Int?
    var directory: Directory
    var demands: [StreamID: VideoLimit?] = [:]
    var streams: [StreamID: ReceivedStream] = [:]
    var sending: [FeedID: Sending] = [:]
    var receiving: [FeedID: Receiving] = [:]
    /// Connections that are being closed.
    var ending: [FeedID: Task<Void, Never>] = [:]
    var tasks: [String: Task<Void, Never>] = [:]
    /// Fires before the token expires.
    var tokenAlarm: OneShotTimer?
    var outbox = Outbox()
    var lastStamps: [UserID: Notice.Stamp] = [:]
    /// Users whose connections were lost, in that order, and when each is given up.
    var lost: [(user: UserID, until: ContinuousClock.Instant)] = []
    /// Whether the interruption was reported to the receiver.
    var isInterruptionReported = false

    init(
        _ request: ChannelRequest, at address: ServerAddress,
        _ configuration: JanusTransport.Configuration, _ queue: ReceiverQueue
    ) {
        self.request = request
        self.address = address
        self.configuration = configuration
        self.queue = queue
        credentials = Credentials(request, pin: configuration.pin)
        directory = Directory(own: request.userID)
        (inputs, continuation) = AsyncStream.makeStream()
    }

    // MARK: From other threads

    /// The outgoing media of a track; audio belongs to the main track.
    nonisolated func media(of track: TrackID) -> OutgoingMedia {
        outgoing.withLock { table in
            if let media = table[track] { return media }
            let feed = FeedID(user: request.userID, track: track)
            let media = OutgoingMedia(feed, queue, ledger) { [continuation] in
                continuation.yield { $0.updateSending(feed) }
            }
            table[track] = media
            return media
        }
    }

    nonisolated var allOutgoing: [OutgoingMedia] { outgoing.withLock { Array($0.values) } }

    nonisolated func note(_ input: @escaping Input) { continuation.yield(input) }

    /// Returns the function that queues the events of a session, on a thread of that session.
    nonisolated func makeEventHandler(_ number: Int) -> @Sendable (JanusSession.Event) -> Void {
        { [weak self] event in
            guard let self else { return }
            let waiting = waitingEvents.add(1, ordering: .relaxed).newValue
            note { member in
                member.waitingEvents.subtract(1, ordering: .relaxed)
                if member.phase != .over { member.handle(event, number) }
            }
            guard waiting > ReceiverQueue.capacity else { return }
            Task {
                await self.finish(
                    EngineError(
                        .disconnected,
                        message:
                            "more than \(ReceiverQueue.capacity) messages from the server are waiting"
                    ))
            }
        }
    }

    // MARK: Life

    /// Joins the room and starts to handle the inputs.
    func join() async throws(EngineError) {
        tasks["inputs"] = Task { [inputs] in
            for await input in inputs { input(self) }
        }
        try await connect()
        guard phase == .joining else { throw Self.left(request) }
        phase = .up
        begin()
    }

    /// Resumes the work that needs a connection: after joining, and after each interruption.
    func begin() {
        watchToken()
        for media in allOutgoing {
            media.retry()
            updateSending(media.feed)
        }
        updateReceiving()
        pumpOutbox()
    }

    func finish(_ error: EngineError) {
        guard phase != .over else { return }
        queue.seal(with: error)
        stop(error)
        let (live, opening) = (self.live.take(), self.opening.take())
        live?.session.close()
        opening?.close()
    }

    /// Leaves the room. A second call waits for the end as well.
    func leave() async {
        let (live, opening) = (self.live.take(), self.opening.take())
        opening?.close()
        stop(Self.left(request))
        let ending = self.ending.values
        // A separate task, because a caller that was cancelled must leave as well.
        if let live { await Task { await self.sayGoodbye(live) }.value }
        for task in ending { await task.value }
    }

    /// Stops everything except the session.
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

    /// Says goodbye to the other users and leaves the server, which may be unreachable. Each
    /// request waits for the answer to the previous one: Janus handles requests on several threads,
    /// and if a leave overtook the goodbye, the other users would see this user as dropped.
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

    // MARK: Events of the server

    private func handle(_ event: JanusSession.Event, _ number: Int) {
        guard let live, live.number == number else { return }
        switch event {
        case .ended(let failure): lost(failure)
        case .message(let message, let handle):
            switch message.janus {
            case "hangup":
                handles[handle]?.send(
                    .hungUp("the Janus server hung up: \(message.reason ?? "no reason given")"))
            case "trickle":
                guard let candidate = message.candidate, let text = candidate.candidate else {
                    return
                }
                handles[handle]?.send(
                    .offered(PeerConnection.Candidate(text, mid: candidate.sdpMid)))
            case "detached" where handle == live.handle.id:
                live.session.end(JanusFailure(.closed, "the Janus server detached the user"))
            case "event" where handle == live.handle.id:
                if let data = message.plugindata?.data { self.handle(data, live) }
            default: break
            }
        }
    }

    private func handle(_ data: VideoRoomData, _ live: Live) {
        switch data.videoroom {
        case "joined":
            credentials.setPrivateID(data.privateId)
            directory.reset()
            directory.add((data.attendees ?? []) + (data.publishers ?? []))
            if isInterruptionReported {
                isInterruptionReported = false
                notify(.reconnected)
            }
        case "destroyed":
            Task { await self.roomWasDestroyed(live) }
            return
        case "event":
            if data.leaving == "ok", data.reason == "kicked" {
                return finish(
                    EngineError(
                        .kicked,
                        message: "\(request.userID) was removed from channel \(request.channel)"))
            }
            if let id = data.id, let display = data.display { return hear(display, from: id) }
            directory.add([data.joining].compactMap(\.self) + (data.publishers ?? []))
            if let id = data.unpublished, id != "ok" { directory.unpublish(id) }
            if let id = data.leaving, id != "ok", let user = directory.remove(id) {
                waitForLost(user)
            }
            if let id = data.kicked { _ = directory.remove(id, isKicked: true) }
        default: return
        }
        settle()
    }

    /// Ends the membership after Janus has finished destroying the room. After this event Janus
    /// closes the handles of all members, and crashes if one of them is already gone. It holds the
    /// lock of the rooms meanwhile, and `exists` waits for that lock (janus_videoroom.c,
    /// `destroy`).
    private func roomWasDestroyed(_ live: Live) async {
        _ = try? await live.handle.request([
            "request": "exists", "room": .string(request.channel),
        ])
        finish(
            EngineError(
                .disconnected, message: "channel \(request.channel) was closed on the server"))
    }

    /// Handles a notice that a user sends through its display name.
    private func hear(_ display: String, from id: String) {
        let feed = FeedID(id)
        guard feed.track == .main, feed.user != request.userID, directory.contains(feed.user),
            let notice = Notice(display)
        else { return }
        switch notice {
        case .goodbye: directory.note(departing: feed.user)
        case .message(let message, let user, let stamp):
            if let last = lastStamps[feed.user], last.sender == stamp.sender,
                last.number >= stamp.number
            {
                return
            }
            lastStamps[feed.user] = stamp
            guard user == nil || user == request.userID else { return }
            notify(.message(message, from: feed.user))
        }
    }

    /// Reports the changes in the room to the receiver.
    func settle() {
        for change in directory.settle() { notify(change) }
        updateReceiving()
    }

    /// Reports an event to the receiver, and opens and closes the streams that it announces.
    func notify(_ event: MembershipEvent) {
        switch event {
        case .joined(let user): _ = ledger.user(user)
        case .left(let user, _):
            for id in streams.keys where id.user == user { close(id) }
            lastStamps[user] = nil
            ledger.forget(user)
        case .published(let stream, let user):
            streams[StreamID(user: user, stream: stream)] = ReceivedStream(
                stream, of: user, ledger.user(user)[stream], to: queue)
        case .unpublished(let stream, let user): close(StreamID(user: user, stream: stream))
        case .muted(let isMuted, let stream, let user):
            streams[StreamID(user: user, stream: stream)]?.setMuted(isMuted)
        case .message, .reconnecting, .reconnected, .disconnected: break
        }
        guard !queue.post(event) else { return }
        finish(
            EngineError(
                .disconnected,
                message:
                    "\(request.userID) was removed from the channel: \(ReceiverQueue.capacity) events are waiting",
                advice: "return from the receiver's methods without delay"))
    }

    /// Closes a stream. Its frames that are still in flight are discarded.
    private func close(_ id: StreamID) { streams.removeValue(forKey: id)?.close() }
}
