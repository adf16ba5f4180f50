internal import BridgeEngine
internal import MediaCore

// MARK: - Media for the viewers

extension ServedChannel {
    func publish(
        _ stream: MediaTrackID, feedback: (any PublicationFeedback)?
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
    /// Announces a sender and its streams before any other event of the sender.
    func announce(_ session: PeerSession) {
        guard session.kind == .sender, session.state.withLock({ $0.streams == nil }),
            let peer = session.peer
        else { return }
        let kinds =
            (peer.videoCodec == nil ? [] : [MediaKind.video])
            + (peer.audioCodec == nil ? [] : [.audio])
        let user = session.user
        // Queued under the lock, so that no frame is delivered first.
        session.state.withLock { state in
            guard state.streams == nil, !state.isOver else { return }
            state.streams = Dictionary(
                uniqueKeysWithValues: kinds.map { kind in
                    let stream = MediaTrackID.ofSender(kind)
                    return (
                        kind, ReceivedStream(stream, of: user, session.tallies[stream], to: queue)
                    )
                })
            queue.post { receiver in
                receiver.handle(.joined(user))
                for kind in kinds {
                    receiver.handle(.published(.ofSender(kind), by: user))
                }
            }
        }
    }

    /// Announces the end of a sender after its last frame.
    func retire(_ session: PeerSession, _ reason: OfflineReason) {
        guard let streams = session.state.withLock({ $0.streams }) else { return }
        let user = session.user
        for stream in streams.values { stream.close() }
        queue.post { receiver in
            for kind in MediaKind.allCases where streams[kind] != nil {
                receiver.handle(.unpublished(.ofSender(kind), by: user))
            }
            receiver.handle(.left(user, reason))
        }
    }

    func receive(_ media: ChannelMedia, from session: PeerSession) {
        guard session.kind == .sender else { return }
        announce(session)
        let kind: MediaKind = if case .unit = media { .video } else { .audio }
        let stream = session.state.withLock { state in
            !state.isOver && (state.isWanted || kind == .audio) ? state.streams?[kind] : nil
        }
        guard stream?.receive(media) == true else { return }
        session.requests.repeatRequest { session.peer?.requestKeyFrame() }
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
            state.streams?[.video]?.awaitKeyFrame()
            return true
        }
        if isNew { session.requests.request { session.peer?.requestKeyFrame() } }
    }

    func requestKeyFrame(_ track: TrackID, of user: UserID) {
        guard track == .main, let session = state.withLock({ $0.sender(user) }) else { return }
        session.requests.request { session.peer?.requestKeyFrame() }
    }
}

extension MediaTrackID {
    /// The stream of a sender, which has at most one of each kind.
    fileprivate static func ofSender(_ kind: MediaKind) -> MediaTrackID {
        kind == .video ? .video(.main) : .audio
    }
}
