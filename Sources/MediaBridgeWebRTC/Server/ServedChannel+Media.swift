internal import BridgeEngine
internal import MediaCore

// MARK: - Media for the viewers

extension ServedChannel {
    func publish(
        _ stream: ChannelStream, feedback: (any PublicationFeedback)?
    ) -> any ChannelPublication {
        guard case .video(let track) = stream, let feedback else {
            let audio = SharedAudio(in: self)
            let before = state.withLock { state in
                defer { state.audio = audio }
                return state.audio
            }
            before?.close()
            return audio
        }
        guard track == .main, !isOver else {
            let reason = "a server shares only the main track, not \(track)"
            queue.post { _ in
                feedback.stateChanged(.failed(EngineError(.sendingFailed, message: reason)))
            }
            return SharedVideo(nil, in: self)
        }
        let video = SharedVideo(feedback, in: self)
        let before = state.withLock { state in
            defer { state.video = video }
            return state.video
        }
        if let before { end(before) }
        updateViewers(of: video)
        return video
    }

    /// Ends a video publication and the sessions of the viewers. They reconnect, and receive the next
    /// publication.
    func end(_ video: SharedVideo) {
        guard video.close() else { return }
        let sent = video.sent
        let (viewers, isCurrent) = state.withLock { state in
            state.removed.sent += sent
            guard state.video === video else { return ([PeerSession](), false) }
            state.video = nil
            return (state.sessions.values.filter { $0.kind == .viewer }, true)
        }
        guard isCurrent else { return }
        for viewer in viewers { end(viewer, because: .quit) }
    }

    func end(_ audio: SharedAudio) {
        audio.close()
        state.withLock { state in
            if state.audio === audio { state.audio = nil }
        }
    }

    /// Ends the sessions of viewers that have negotiated another codec.
    func endViewers(without codec: VideoCodec) {
        for viewer in viewers where viewer.peer?.videoCodec.map({ $0 != codec }) ?? false {
            end(viewer, because: .kicked)
        }
    }

    // MARK: Requests of viewers

    func keyFrameNeeded(by session: PeerSession) {
        guard session.kind == .viewer else { return }
        state.withLock { $0.video }?.requestKeyFrame()
    }

    func limitChanged(_ limit: VideoLimit, of session: PeerSession) {
        guard session.kind == .viewer else { return }
        session.state.withLock { $0.limit = limit }
        if let video = state.withLock({ $0.video }) { updateViewers(of: video) }
    }

    /// Updates whether there are viewers, and their combined limit.
    func updateViewers(of video: SharedVideo) {
        let present = sessions(.viewer).filter { !$0.isOver }
        let limits = present.compactMap { $0.state.withLock { $0.limit } }
        video.update(hasViewers: !present.isEmpty, SharedLimit.combined(limits))
    }
}

// MARK: - Media from the senders

extension ServedChannel {
    /// The maximum number of frames of a sender that wait for the receiver. Further frames are refused;
    /// the waiting ones are kept, because later frames depend on them.
    private static let (videoDepth, audioDepth) = (64, 100)

    /// Announces a sender and its streams before any other event of the sender.
    func announce(_ session: PeerSession) {
        guard session.kind == .sender, session.state.withLock({ $0.announced == nil }),
            let peer = session.peer
        else { return }
        let streams: [ChannelStream] =
            (peer.videoCodec == nil ? [] : [.video(.main)])
            + (peer.audioCodec == nil ? [] : [.audio])
        let user = session.user
        // Queued under the lock, so that no frame is delivered first.
        session.state.withLock { state in
            guard state.announced == nil, !state.isOver else { return }
            state.announced = streams
            queue.post { receiver in
                receiver.handle(.joined(user))
                for stream in streams { receiver.handle(.published(stream, by: user)) }
            }
        }
    }

    /// Announces the end of a sender after its last frame.
    func retire(_ session: PeerSession, _ reason: OfflineReason) {
        guard let streams = session.state.withLock({ $0.announced }) else { return }
        let user = session.user
        queue.post { receiver in
            for stream in streams { receiver.handle(.unpublished(stream, by: user)) }
            receiver.handle(.left(user, reason))
        }
    }

    func receive(_ media: ChannelMedia, from session: PeerSession) {
        guard session.kind == .sender else { return }
        announce(session)
        let user = session.user
        let references: EncodedVideoFrameReferences? =
            if case .unit(let unit) = media { unit.references } else { nil }
        let isVideo = references != nil
        let kind: MediaKind = isVideo ? .video : .audio
        let needsKeyFrame = session.state.withLock { state in
            guard !state.isOver, state.isWanted || !isVideo else { return false }
            state.counts[kind].units.offered += 1
            if let references, !state.chain.admits(references) {
                state.counts[kind].units.dropped[.needsKeyFrame] += 1
                return true
            }
            let depth = isVideo ? Self.videoDepth : Self.audioDepth
            guard state.counts[kind].units.waiting <= depth else {
                state.counts[kind].units.dropped[.evicted] += 1
                if isVideo { _ = state.chain.lose() }
                return isVideo
            }
            queue.post { receiver in
                session.state.withLock { $0.counts[kind].units.delivered += 1 }
                receiver.receive(media, isVideo ? .video(.main) : .audio, from: user)
            } undelivered: {
                session.state.withLock { $0.counts[kind].units.dropped[.closed] += 1 }
            }
            return false
        }
        if needsKeyFrame { session.requests.repeatRequest { session.peer?.requestKeyFrame() } }
    }

    // MARK: Requests of the engine

    func setDemand(_ demand: VideoLimit?, _ track: TrackID, of user: UserID) {
        guard track == .main else { return }
        let session = state.withLock { state in
            state.demands[user] = .some(demand)
            return state.sender(user)
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
        guard track == .main, let session = state.withLock({ $0.sender(user) }) else { return }
        session.requests.request { session.peer?.requestKeyFrame() }
    }
}
