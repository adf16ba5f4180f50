package import BridgeEngine
internal import MediaCore

// Admission of peers.
extension ServedChannel {
    /// Takes a peer's offer and returns the session with the answer.
    ///
    /// - Parameters:
    ///   - kind: The kind of session that the peer requests.
    ///   - offer: The offer, which the caller has already checked.
    ///   - name: The name that the peer requests; `nil` for a generated one.
    package func admit(
        _ kind: PeerSession.Kind, _ offer: String, name: String?
    ) async throws(Refusal) -> (session: PeerSession, answer: String) {
        // Checked before the place is taken: a place taken during the wait for media would make the
        // channel appear full to other peers.
        try checkRoom(for: kind)
        let media = try await media(for: kind)
        let session = try enter(kind, name)
        do throws(Refusal) {
            return (session, try await answer(offer, media, session))
        } catch {
            await end(session, because: .dropped).value
            throw error
        }
    }

    private func answer(
        _ offer: String, _ media: PeerConnection.Media, _ session: PeerSession
    ) async throws(Refusal) -> String {
        let peer = makePeer(session.kind.role, media, configuration, session)
        guard session.set(peer) else {
            await peer.close()
            throw .over
        }
        let answer: String
        do throws(PeerError) { answer = try await peer.answer(offer) } catch { throw .peer(error) }
        guard !session.isOver else { throw .over }
        return answer
    }

    private func media(for kind: PeerSession.Kind) async throws(Refusal) -> PeerConnection.Media {
        guard kind == .viewer else { return PeerConnection.Media() }
        let (video, audio) = state.withLock { ($0.video, $0.audio) }
        guard let video else {
            guard audio != nil else { throw .nothingShared }
            return PeerConnection.Media(video: [], audio: [.opus])
        }
        guard let codec = await video.codec.value(within: Self.firstUnitTimeout) else {
            throw .nothingShared
        }
        return PeerConnection.Media(video: [codec], audio: audio == nil ? [] : [.opus])
    }

    private func checkRoom(for kind: PeerSession.Kind) throws(Refusal) {
        let reason = state.withLock { state in refusal(for: kind, name: nil, state) }
        if let reason { throw reason }
    }

    private func enter(_ kind: PeerSession.Kind, _ name: String?) throws(Refusal) -> PeerSession {
        let result = state.withLock { state -> Result<PeerSession, Refusal> in
            if let refusal = refusal(for: kind, name: name, state) { return .failure(refusal) }
            let user = name.map { UserID($0) } ?? Self.newName(kind, &state)
            let isWanted =
                state.demands[user].map { $0 != nil } ?? request.wantsAllTracks
            let session = PeerSession(kind, user, isWanted: isWanted, in: self)
            state.sessions[session.id] = session
            return .success(session)
        }
        let session = try result.get()
        if kind == .viewer, let video = state.withLock({ $0.video }) { updateViewers(of: video) }
        return session
    }

    private func refusal(
        for kind: PeerSession.Kind, name: String?, _ state: State
    ) -> Refusal? {
        guard !state.isOver else { return .over }
        let (most, sessions) = (capacity, state.sessions.values)
        let places = kind == .viewer ? most.viewers : most.senders
        guard sessions.count(where: { $0.kind == kind }) < places else { return .full }
        let connecting = sessions.count { $0.state.withLock { !$0.isConnected } }
        guard connecting < most.connecting else { return .crowded }
        if let name { return isTaken(UserID(name), state) ? .nameTaken : nil }
        return nil
    }

    private func isTaken(_ user: UserID, _ state: State) -> Bool {
        user == request.userID || state.sessions.values.contains { $0.user == user }
    }

    private static func newName(_ kind: PeerSession.Kind, _ state: inout State) -> UserID {
        while true {
            state.number += 1
            let user = UserID("\(kind.rawValue)-\(state.number)")
            if !state.sessions.values.contains(where: { $0.user == user }) { return user }
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
        if let agreed, let codec = video?.codec.value, agreed != codec {
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
            receiver.receive(message, from: session.user)
        } unheard: {
            session.state.withLock { $0.waitingMessages -= 1 }
        }
    }

    /// Sends a message to one peer or to all of them.
    package func send(_ message: ChannelMessage, to user: UserID?) throws(EngineError) {
        let (sessions, isOver) = state.withLock { (Array($0.sessions.values), $0.isOver) }
        guard !isOver else {
            throw EngineError(.notInChannel, message: "\(request.userID) has left the channel")
        }
        guard message.bytes.count <= ChannelMessage.maximumSize else {
            throw EngineError(
                .invalidArgument,
                message: "a message of \(message.bytes.count) bytes is too long",
                advice: "at most \(ChannelMessage.maximumSize) bytes")
        }
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
