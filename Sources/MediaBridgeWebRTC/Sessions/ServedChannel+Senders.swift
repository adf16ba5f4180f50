internal import BridgeEngine
internal import MediaCore

// Media from senders.
extension ServedChannel {
    /// Announces a sender and its streams before any other event of the sender.
    func announce(_ session: PeerSession) {
        guard session.kind == .sender, session.state.withLock({ $0.announced == nil }),
            let peer = session.peer
        else { return }
        let streams = (video: peer.videoCodec != nil, audio: peer.audioCodec != nil)
        let user = session.user
        // Queued under the lock, so that no frame is delivered first.
        session.state.withLock { state in
            guard state.announced == nil, !state.isOver else { return }
            state.announced = streams
            queue.post { receiver in
                receiver.userJoined(user)
                if streams.video { receiver.trackPublished(.main, by: user) }
                if streams.audio { receiver.audioPublished(by: user) }
            }
        }
    }

    /// Announces the end of a sender after its last frame.
    func retire(_ session: PeerSession, _ reason: OfflineReason) {
        guard let streams = session.state.withLock({ $0.announced }) else { return }
        let user = session.user
        queue.post { receiver in
            if streams.video { receiver.trackUnpublished(.main, by: user) }
            if streams.audio { receiver.audioUnpublished(by: user) }
            receiver.userLeft(user, reason: reason)
        }
    }

    func receive(_ unit: EncodedVideoFrame, from session: PeerSession) {
        guard session.kind == .sender else { return }
        announce(session)
        let (references, user) = (unit.references, session.user)
        let needsKeyFrame = session.state.withLock { state in
            guard !state.isOver, state.isWanted else { return false }
            state.video.frames.sent += 1
            guard state.chain.admits(references) else {
                state.video.frames.needingKeyFrame += 1
                return true
            }
            guard state.video.frames.waiting <= UnitCounts.videoDepth else {
                state.video.frames.evicted += 1
                _ = state.chain.lose()
                return true
            }
            queue.post { receiver in
                session.state.withLock { $0.video.frames.delivered += 1 }
                receiver.receive(unit, track: .main, from: user)
            } unheard: {
                session.state.withLock { $0.video.frames.closed += 1 }
            }
            return false
        }
        if needsKeyFrame { session.requests.repeatRequest { session.peer?.requestKeyFrame() } }
    }

    func receive(_ unit: EncodedAudioFrame, from session: PeerSession) {
        guard session.kind == .sender else { return }
        announce(session)
        let user = session.user
        session.state.withLock { state in
            guard !state.isOver else { return }
            state.audio.frames.sent += 1
            guard state.audio.frames.waiting <= UnitCounts.audioDepth else {
                state.audio.frames.evicted += 1
                return
            }
            queue.post { receiver in
                session.state.withLock { $0.audio.frames.delivered += 1 }
                receiver.receive(unit, from: user)
            } unheard: {
                session.state.withLock { $0.audio.frames.closed += 1 }
            }
        }
    }

    // MARK: What the engine asks for

    func setDemand(_ demand: VideoDemand?, _ track: TrackID, of user: UserID) {
        guard track == .main else { return }
        let session = state.withLock { state in
            state.demands[user] = .some(demand)
            return state.sessions.values.first { $0.kind == .sender && $0.user == user }
        }
        guard let session else { return }
        let isNew = session.state.withLock { state in
            defer { state.isWanted = demand != nil }
            guard !state.isWanted, demand != nil else { return false }
            state.chain = ReferenceChain()
            return true
        }
        if isNew { session.requests.request { session.peer?.requestKeyFrame() } }
    }

    func requestKeyFrame(_ track: TrackID, of user: UserID) {
        let session = state.withLock { state in
            state.sessions.values.first { $0.kind == .sender && $0.user == user }
        }
        guard track == .main, let session else { return }
        session.requests.request { session.peer?.requestKeyFrame() }
    }
}
