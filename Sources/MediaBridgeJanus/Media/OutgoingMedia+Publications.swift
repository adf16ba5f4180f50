internal import BridgeEngine
internal import MediaBridgeWebRTC
internal import MediaCore
internal import Synchronization

// The operations of publications.
extension OutgoingMedia {
    /// Announces the video.
    ///
    /// - Returns: The number of the publication; `nil` if the track is already published.
    func publishVideo(_ feedback: any PublicationFeedback) -> Int? {
        let (number, failure) = state.withLock { state -> (Int?, EngineError?) in
            guard state.video == nil, !state.isClosed else { return (nil, nil) }
            if state.audio == nil { state.failure = nil }
            state.number += 1
            state.videoNumber = state.number
            state.video = Video(feedback: feedback)
            return (state.number, state.failure)
        }
        guard number != nil else { return nil }
        inbox.post { _ in feedback.stateChanged(.negotiating) }
        if let failure { fail(failure) } else { tellState() }
        onChange()
        return number
    }

    /// Announces the audio; otherwise like ``publishVideo(_:)``.
    func publishAudio() -> Int? {
        let number = state.withLock { state -> Int? in
            guard state.audio == nil, !state.isClosed else { return nil }
            if state.video == nil { state.failure = nil }
            state.number += 1
            state.audioNumber = state.number
            state.audio = Audio()
            return state.number
        }
        if number != nil { onChange() }
        return number
    }

    func endVideo(_ number: Int) {
        let ended = state.withLock { state -> Video? in
            guard state.videoNumber == number else { return nil }
            return state.video.take()
        }
        if ended != nil { onChange() }
    }

    func endAudio(_ number: Int) {
        let isEnded = state.withLock { state in
            guard state.audioNumber == number else { return false }
            return state.audio.take() != nil
        }
        if isEnded { onChange() }
    }

    func muteVideo(_ isMuted: Bool, _ number: Int) {
        let isChanged = state.withLock { state in
            guard state.videoNumber == number, let video = state.video, video.isMuted != isMuted
            else { return false }
            state.video?.isMuted = isMuted
            return true
        }
        guard isChanged else { return }
        tellState()
        // The stream continues with a keyframe after the pause.
        if !isMuted { askForKeyFrame() }
        onChange()
    }

    func muteAudio(_ isMuted: Bool, _ number: Int) {
        let isChanged = state.withLock { state in
            guard state.audioNumber == number, let audio = state.audio, audio.isMuted != isMuted
            else { return false }
            state.audio?.isMuted = isMuted
            return true
        }
        if isChanged { onChange() }
    }

    /// The video codecs: the negotiated one, or before negotiation all codecs on offer.
    var videoCodecs: Set<VideoCodec> {
        let (connection, refused) = state.withLock {
            ($0.isConnected ? $0.connection : nil, $0.refused)
        }
        // If all codecs are refused, there is no publication that could use this value.
        let others = Self.codecs.subtracting(refused)
        return (connection?.videoCodec).map { [$0] } ?? (others.isEmpty ? Self.codecs : others)
    }

    /// The video codecs that a room may accept.
    static let codecs: Set<VideoCodec> = [.h264, .vp8]

    func send(_ unit: EncodedVideoFrame, _ number: Int) -> FrameDisposition {
        // The frame comes from an encoder that is being replaced.
        guard !state.withLock({ $0.refused.contains(unit.codec) }) else { return .wrongBufferType }
        if Self.codecs.contains(unit.codec) { note(unit.codec) }
        let answer = state.withLock { state -> Result<PeerConnection, Refusal> in
            guard !state.isClosed else { return .failure(.closed) }
            guard state.videoNumber == number, let video = state.video else {
                return .failure(.ended)
            }
            guard !video.isMuted else { return .failure(.muted) }
            return connection(state)
        }
        return pass(answer, ledger.outgoing) { $0.send(unit) }
    }

    /// The fraction of audio packets that the server has recently lost, from 0 to 1.
    var soundLoss: Double {
        state.withLock { $0.isConnected ? $0.connection : nil }?.soundLoss ?? 0
    }

    func send(_ unit: EncodedAudioFrame, _ number: Int) -> FrameDisposition {
        let answer = state.withLock { state -> Result<PeerConnection, Refusal> in
            guard !state.isClosed else { return .failure(.closed) }
            guard state.audioNumber == number, let audio = state.audio else {
                return .failure(.ended)
            }
            guard !audio.isMuted else { return .failure(.muted) }
            return connection(state)
        }
        return pass(answer, ledger.outgoingAudio) { $0.send(unit) }
    }

    private enum Refusal: Error { case closed, ended, muted, failed, unconnected }

    private func connection(_ state: borrowing State) -> Result<PeerConnection, Refusal> {
        guard state.failure == nil else { return .failure(.failed) }
        guard state.isConnected, let connection = state.connection else {
            return .failure(.unconnected)
        }
        return .success(connection)
    }

    private func pass(
        _ answer: Result<PeerConnection, Refusal>, _ tally: UnitTally,
        _ send: (PeerConnection) -> FrameDisposition
    ) -> FrameDisposition {
        switch answer {
        case .success(let connection):
            let disposition = send(connection)
            if disposition.isAccepted {
                tally.count(\.sent)
                tally.count(\.delivered)
            }
            return disposition
        case .failure(.closed): return .dropped(.closed)
        case .failure(.ended): return .notStarted
        case .failure(.muted): return .dropped(.muted)
        case .failure(.failed): return .dropped(.failed)
        case .failure(.unconnected): return .dropped(.notConnected)
        }
    }
}
