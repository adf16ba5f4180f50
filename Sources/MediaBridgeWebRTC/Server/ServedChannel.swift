internal import BridgeEngine
internal import MediaBasics
internal import MediaBridge
internal import MediaCore
internal import Synchronization

/// An engine's membership on a server: its publications, its viewers and its senders. It ends when the last
/// reference is released.
///
/// Thread: any.
final class ServedChannel: ChannelMembership {
    struct State {
        var sessions: [String: PeerSession] = [:]
        /// Ended sessions of senders whose last frames the receiver has not taken yet.
        var retiring: [PeerSession] = []
        /// Connected viewers, in the order of arrival.
        var viewers: [PeerSession] = []
        var video: SharedVideo?
        var audio: SharedAudio?
        /// The engine's demands for the users' video.
        var demands: [UserID: VideoLimit?] = [:]
        /// The counts of sessions and publications that have ended.
        var removed = ChannelStatistics()
        var number = 0
        var isOver = false

        /// Returns the session of a sender; `nil` without one.
        func sender(_ user: UserID) -> PeerSession? {
            sessions.values.first { $0.kind == .sender && $0.user == user }
        }
    }
    let state = Mutex(State())
    let queue: ReceiverQueue
    /// The engine's request to join.
    private let request: ChannelRequest
    private let configuration: WebRTCServer.Configuration
    private let makePeer: MakePeer
    let timeline: any Timeline

    /// How long a viewer waits for the engine's first frame.
    private static let firstUnitTimeout = Duration.seconds(5).asDefaultDeadline
    /// The maximum number of one peer's messages that wait for the receiver. The session of a peer
    /// that exceeds it ends.
    private static let messageDepth = 256

    init(
        _ request: ChannelRequest, receiver: any ChannelReceiver,
        _ configuration: WebRTCServer.Configuration, timeline: any Timeline,
        makePeer: @escaping MakePeer
    ) {
        self.request = request
        self.configuration = configuration
        self.makePeer = makePeer
        self.timeline = timeline
        queue = ReceiverQueue(receiver, label: "mediabridge.webrtc.receiver")
    }

    deinit {
        queue.release()
        let (sessions, video) = state.withLock { ($0.sessions.values, $0.video) }
        _ = video?.close()
        for session in sessions {
            session.requests.end()
            if let peer = session.peer { Task.detached { await peer.close() } }
        }
    }

    var isOver: Bool { state.withLock { $0.isOver } }

    var viewers: [PeerSession] { state.withLock { $0.viewers } }

    /// Returns the session with this ID from a URL; `nil` if it has ended.
    func session(_ id: String, _ kind: PeerSession.Kind) -> PeerSession? {
        let session = state.withLock { $0.sessions[id] }
        return session?.kind == kind && session?.isOver == false ? session : nil
    }

    func sessions(_ kind: PeerSession.Kind) -> [PeerSession] {
        state.withLock { state in state.sessions.values.filter { $0.kind == kind } }
    }

    /// Returns the connection counts of the sessions of one kind, by name.
    func peers(_ kind: PeerSession.Kind) -> [UserID: PeerStatistics] {
        var counts: [UserID: PeerStatistics] = [:]
        for session in sessions(kind) where session.state.withLock({ $0.isConnected }) {
            if let peer = session.peer { counts[session.user] = peer.statistics }
        }
        return counts
    }

    // MARK: The end

    /// Ends the engine's membership: all sessions are closed, and the receiver is not called any
    /// more.
    func leave() async {
        queue.release()
        let (sessions, video, audio) = state.withLock { state in
            state.isOver = true
            return (Array(state.sessions.values), state.video, state.audio)
        }
        if let video { end(video) }
        if let audio { end(audio) }
        for task in sessions.map({ end($0, because: .quit) }) { await task.value }
        await queue.silence()
    }

    /// Ends a session. Its counts and its name remain until the connection is closed.
    @discardableResult
    func end(_ session: PeerSession, because reason: OfflineReason) -> Task<Void, Never> {
        session.state.withLock { state in
            if let ending = state.ending { return ending }
            let ending = Task.detached { [self] in await finish(session, reason) }
            state.ending = ending
            return ending
        }
    }

    private func finish(_ session: PeerSession, _ reason: OfflineReason) async {
        session.requests.end()
        state.withLock { state in state.viewers.removeAll { $0 === session } }
        let peer = session.state.withLock { $0.peer }
        await peer?.close()
        if session.kind == .viewer {
            let video = state.withLock { state in
                state.sessions[session.id] = nil
                session.count(in: &state.removed, isFinal: true)
                return state.video
            }
            if let video { updateViewers(of: video) }
            return
        }
        retire(session, reason)
        state.withLock { state in
            state.sessions[session.id] = nil
            state.retiring.append(session)
        }
        // After the frames that are still waiting.
        queue.post { [weak self] _ in
            self?.retired(session)
        } undelivered: { [weak self] in
            self?.retired(session)
        }
    }

    /// Adds the counts of an ended sender session after all its frames were taken or refused.
    private func retired(_ session: PeerSession) {
        state.withLock { state in
            state.retiring.removeAll { $0 === session }
            session.count(in: &state.removed, isFinal: true)
        }
    }

    // MARK: Statistics

    var statistics: ChannelStatistics {
        let (sessions, video, removed) = state.withLock { state in
            (Array(state.sessions.values) + state.retiring, state.video, state.removed)
        }
        var statistics = removed
        statistics.sent += video?.sent ?? 0
        for session in sessions {
            let video = session.count(in: &statistics)
            switch session.kind {
            case .viewer: statistics.to[session.user] = video
            case .sender:
                statistics.from[session.user] = video
                guard let counts = session.peer?.statistics else { continue }
                statistics.jitter[session.user] = counts.video.jitter
                statistics.audioJitter[session.user] = counts.audio.jitter
            }
        }
        return statistics
    }
}

// MARK: - Admission

extension ServedChannel {
    /// Takes a peer's offer and returns the session with the answer.
    ///
    /// - Parameters:
    ///   - kind: The kind of session that the peer requests.
    ///   - offer: The offer, which the caller has already checked.
    ///   - userFragment: The ICE user fragment of the peer.
    ///   - name: The name that the peer requests; `nil` for a generated one.
    func admit(
        _ kind: PeerSession.Kind, _ offer: String, _ userFragment: String, name: String?
    ) async throws(RequestRefusal) -> (session: PeerSession, answer: String) {
        // Checked before the place is taken: a place taken during the wait for media would make the
        // channel appear full to other peers.
        try state.withLock { state throws(RequestRefusal) in try checkRoom(for: kind, state) }
        let connecting = state.withLock { state in
            state.sessions.values.count { $0.state.withLock { !$0.isConnected } }
        }
        guard Descriptors.haveRoom(for: connecting + 1) else { throw .fewDescriptors }
        let media = try await media(for: kind)
        let session = try enter(kind, userFragment, name)
        do throws(RequestRefusal) {
            let peer = makePeer(kind.role, media, configuration.connection, session)
            let isOver = session.state.withLock { state in
                if !state.isOver { state.peer = peer }
                return state.isOver
            }
            guard !isOver else {
                await peer.close()
                throw .over
            }
            let answer: String
            do throws(PipelineError) { answer = try await peer.answer(offer) } catch {
                throw RequestRefusal(error)
            }
            guard !session.isOver else { throw .over }
            return (session, answer)
        } catch {
            await end(session, because: .dropped).value
            throw error
        }
    }

    private func media(
        for kind: PeerSession.Kind
    ) async throws(RequestRefusal) -> PeerConnection.Media {
        guard kind == .viewer else { return PeerConnection.Media() }
        let (video, audio) = state.withLock { ($0.video, $0.audio) }
        guard let video else {
            guard audio != nil else { throw .nothingShared }
            return PeerConnection.Media(video: [], audio: [.opus])
        }
        guard let codec = await video.codec(within: Self.firstUnitTimeout) else {
            throw .nothingShared
        }
        return PeerConnection.Media(video: [codec], audio: audio == nil ? [] : [.opus])
    }

    private func enter(
        _ kind: PeerSession.Kind, _ userFragment: String, _ name: String?
    ) throws(RequestRefusal) -> PeerSession {
        let session = try state.withLock { state throws(RequestRefusal) in
            try checkRoom(for: kind, state)
            let user = name.map { UserID($0) } ?? newName(kind, &state)
            guard !isTaken(user, state) else { throw .nameTaken }
            let isWanted =
                state.demands[user].map { $0 != nil } ?? request.wantsAllTracks
            let session = PeerSession(kind, user, userFragment, isWanted: isWanted, in: self)
            state.sessions[session.id] = session
            return session
        }
        if kind == .viewer, let video = state.withLock({ $0.video }) { updateViewers(of: video) }
        return session
    }

    private func checkRoom(
        for kind: PeerSession.Kind, _ state: State
    ) throws(RequestRefusal) {
        guard !state.isOver else { throw .over }
        let sessions = state.sessions.values
        let places =
            kind == .viewer ? configuration.maximumViewers : configuration.maximumSenders
        guard sessions.count(where: { $0.kind == kind }) < places else { throw .full }
        let connecting = sessions.count { $0.state.withLock { !$0.isConnected } }
        guard connecting < configuration.maximumConnecting else { throw .crowded }
    }

    private func isTaken(_ user: UserID, _ state: State) -> Bool {
        user == request.userID || state.sessions.values.contains { $0.user == user }
    }

    private func newName(_ kind: PeerSession.Kind, _ state: inout State) -> UserID {
        while true {
            state.number += 1
            let user = UserID("\(kind.rawValue)-\(state.number)")
            if !isTaken(user, state) { return user }
        }
    }

    // MARK: Connections

    /// Notes that a peer is connected: media may flow.
    func connected(_ session: PeerSession) {
        let isNew = session.state.withLock { state in
            defer { state.isConnected = true }
            return !state.isConnected && !state.isOver
        }
        guard session.kind == .viewer else { return announce(session) }
        let video = state.withLock { $0.video }
        guard isNew else { return }
        // The codec may have changed while the peer connected.
        let agreed = session.peer?.videoCodec
        if let agreed, let codec = video?.codec, agreed != codec {
            end(session, because: .kicked)
            return
        }
        state.withLock { state in
            let isOver = session.state.withLock { $0.isOver }
            if !isOver { state.viewers.append(session) }
        }
        if agreed != nil { video?.requestKeyFrame() }
    }

    // MARK: Messages

    /// Forwards a message of a peer.
    func receive(_ message: ChannelMessage, from session: PeerSession) {
        let isFlood = session.state.withLock { state in
            state.waitingMessages += 1
            return state.waitingMessages > Self.messageDepth
        }
        guard !isFlood else {
            end(session, because: .kicked)
            return
        }
        announce(session)
        queue.post { receiver in
            session.state.withLock { $0.waitingMessages -= 1 }
            receiver.handle(.message(message, from: session.user))
        } undelivered: {
            session.state.withLock { $0.waitingMessages -= 1 }
        }
    }

    /// Sends a message to one peer or to all of them.
    func send(_ message: ChannelMessage, to user: UserID?) throws(EngineError) {
        let (sessions, isOver) = state.withLock { (Array($0.sessions.values), $0.isOver) }
        guard !isOver else {
            throw EngineError(.notInChannel, message: "\(request.userID) has left the channel")
        }
        try message.checkSize()
        guard let user else {
            for session in sessions { _ = session.peer?.send(message) }
            return
        }
        guard let peer = sessions.first(where: { $0.user == user })?.peer else {
            throw EngineError(.invalidArgument, message: "peer \(user) not found")
        }
        guard peer.send(message) else {
            throw EngineError(
                .invalidState,
                message:
                    "cannot send the message: the peer has no data channel, or its queue is full",
                advice: "a page that opens a data channel")
        }
    }
}
