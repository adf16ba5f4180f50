internal import BridgeEngine
internal import MediaCore

// Media for the viewers.
extension ServedChannel {
    func publish(_ track: TrackID, feedback: any PublicationFeedback) -> any VideoPublication {
        guard track == .main, !isOver else {
            return refuse(feedback, "a server shares only the main track, not \(track)")
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

    private func refuse(
        _ feedback: any PublicationFeedback, _ reason: String
    ) -> any VideoPublication {
        queue.post { _ in
            feedback.stateChanged(.failed(EngineError(.sendingFailed, message: reason)))
        }
        return NoVideo()
    }

    func publishAudio() -> any AudioPublication {
        let audio = SharedAudio(in: self)
        let before = state.withLock { state in
            defer { state.audio = audio }
            return state.audio
        }
        before?.close()
        return audio
    }

    /// Ends a publication of video and the sessions of the viewers. They reconnect and get what is
    /// published then.
    func end(_ video: SharedVideo) {
        guard video.close() else { return }
        let sent = video.sent
        let (viewers, isCurrent) = state.withLock { state in
            state.gone.sent += sent
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

    // MARK: What viewers ask for

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
        let sessions = state.withLock { state in
            state.sessions.values.filter { $0.kind == .viewer }
        }
        let present = sessions.filter { !$0.isOver }
        video.setHasViewers(!present.isEmpty)
        video.setLimit(SharedLimit.combined(present.compactMap { $0.state.withLock { $0.limit } }))
    }
}

/// The publication of a track that is not shared.
private final class NoVideo: VideoPublication {
    var carriesFrames: Bool { false }
    var codecs: Set<VideoCodec> { SharedVideo.codecs }
    func send(_ frame: consuming VideoFrame) -> FrameDisposition { .notStarted }
    func send(_ unit: EncodedVideoFrame) -> FrameDisposition { .notStarted }
    func end() {}
}
