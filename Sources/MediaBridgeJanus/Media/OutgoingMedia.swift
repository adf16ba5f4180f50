internal import BridgeEngine
internal import MediaBasics
internal import MediaBridgeWebRTC
internal import MediaCore
internal import Synchronization

/// The media of one sending connection, as publications see it. It outlives the connection, which
/// may fail and be replaced. Thread: any.
final class OutgoingMedia: Sendable {
    struct Video {
        var feedback: any PublicationFeedback
        var isMuted = false
        /// The last state that was reported to the publication, without its reason.
        var told = Stage.negotiating
    }
    struct Audio {
        var isMuted = false
    }
    enum Stage: Hashable, Sendable { case negotiating, sending, paused, failed }
    struct State {
        var video: Video?
        var audio: Audio?
        var connection: PeerConnection?
        var isConnected = false
        /// Whether a connection was ever established.
        var hasWorked = false
        /// The codec of the latest video frame; `nil` before the first one.
        var codec: VideoCodec?
        /// The video codecs that the room has refused.
        var refused: Set<VideoCodec> = []
        /// Called with the first video frame, or when the wait for it times out.
        var onCodec: [@Sendable () -> Void] = []
        /// Why sending has stopped; `nil` while it has not.
        var failure: EngineError?
        var isClosed = false
        /// Distinguishes consecutive publications of the same track.
        var number = 0
        var videoNumber = 0
        var audioNumber = 0
    }
    let feed: FeedID
    let state = Mutex(State())
    let inbox: Inbox
    let ledger: Ledger
    /// Called when a stream is announced, muted or ended.
    let onChange: @Sendable () -> Void

    init(
        _ feed: FeedID, _ inbox: Inbox, _ ledger: Ledger, onChange: @escaping @Sendable () -> Void
    ) {
        self.feed = feed
        self.inbox = inbox
        self.ledger = ledger
        self.onChange = onChange
    }

    // MARK: The connection

    /// Whether anything is announced and sending is allowed.
    var isAnnounced: Bool {
        state.withLock { ($0.video != nil || $0.audio != nil) && !$0.isClosed && $0.failure == nil }
    }

    /// Clears the failure: another session may accept the media.
    func retry() {
        state.withLock { state in
            state.refused = []
            guard state.failure.take() != nil else { return }
            state.video?.told = .paused
        }
    }

    /// The video codec: that of the latest frame; before the first frame, the default encoder's.
    var videoCodec: VideoCodec {
        state.withLock { $0.codec ?? ($0.refused.contains(.h264) ? .vp8 : .h264) }
    }

    /// Whether a connection was ever established. If so, a failure may be temporary.
    var hasWorked: Bool { state.withLock { $0.hasWorked } }

    /// Whether video may be sent: it is not known to have failed.
    var mayHaveVideo: Bool { state.withLock { $0.video?.told != .failed } }

    /// Waits until the video codec is known, if video is published.
    ///
    /// - Parameter limit: The timeout. A source may deliver its first frame late.
    func waitForCodec(atMost limit: Duration) async {
        let timer = OneShotTimer(after: limit) { [weak self] in self?.endWaits() }
        await withCheckedContinuation { continuation in
            let isKnown = state.withLock { state in
                if state.codec != nil || state.video == nil || state.isClosed { return true }
                state.onCodec.append { continuation.resume() }
                return false
            }
            if isKnown { continuation.resume() }
        }
        timer.cancel()
    }

    private func endWaits() {
        let waits = state.withLock { state in
            defer { state.onCodec = [] }
            return state.onCodec
        }
        for wait in waits { wait() }
    }

    /// Notes the codec of a frame. A codec that the connection does not carry requires a new
    /// connection.
    func note(_ codec: VideoCodec) {
        let before = state.withLock { state in
            defer { state.codec = codec }
            return state.codec
        }
        guard before != codec else { return }
        endWaits()
        if before != nil || codec != .h264 { onChange() }
    }

    /// The video codecs that the room has refused.
    var refusedCodecs: Set<VideoCodec> { state.withLock { $0.refused } }

    /// Notes that the room does not accept a codec.
    ///
    /// - Returns: Whether the publisher switches to another codec.
    func refuse(_ codec: VideoCodec) async -> Bool {
        let (feedback, hasOthers) = state.withLock { state in
            state.refused.insert(codec)
            if state.codec == codec { state.codec = nil }
            return (state.video?.feedback, !Self.codecs.isSubset(of: state.refused))
        }
        guard hasOthers else { return false }
        // There is no publication. The next one uses the remaining codecs.
        guard let feedback else { return true }
        return await withCheckedContinuation { continuation in
            inbox.deliver { receiver in
                continuation.resume(returning: receiver != nil && feedback.codecsChanged())
            }
        }
    }

    /// The modes of both streams as announced to the other users.
    var modes: (video: Feed.Stream.Mode, audio: Feed.Stream.Mode) {
        state.withLock { state in
            (
                state.video.map { $0.isMuted ? .muted : .on } ?? .off,
                state.audio.map { $0.isMuted ? .muted : .on } ?? .off
            )
        }
    }

    /// Sets the connection; `nil` while it is being replaced.
    func setConnection(_ connection: PeerConnection?) {
        let before = state.withLock { state in
            defer { (state.connection, state.isConnected) = (connection, false) }
            return state.connection
        }
        withExtendedLifetime(before) {}
        tellState()
    }

    /// Sets whether media flows.
    func setConnected(_ isConnected: Bool) {
        let isNew = state.withLock { state in
            defer { state.isConnected = isConnected && state.connection != nil }
            if isConnected { state.hasWorked = true }
            return isConnected && !state.isConnected
        }
        tellState()
        if isNew { askForKeyFrame() }
    }

    /// Stops sending because of an error.
    func fail(_ error: EngineError) {
        state.withLock { $0.failure = error }
        failVideo(error)
    }

    /// Stops sending video because of an error; audio continues.
    func failVideo(_ error: EngineError) {
        let feedback = state.withLock { state -> (any PublicationFeedback)? in
            guard state.video?.told != .failed else { return nil }
            state.video?.told = .failed
            return state.video?.feedback
        }
        if let feedback { inbox.post { _ in feedback.stateChanged(.failed(error)) } }
    }

    /// Ends all publications; nothing is accepted any more.
    func close() {
        let (connection, video) = state.withLock { state in
            state.isClosed = true
            state.isConnected = false
            return (state.connection.take(), state.video.take())
        }
        withExtendedLifetime((connection, video)) {}
        endWaits()
    }

    func askForKeyFrame() {
        guard let feedback = state.withLock({ $0.video?.feedback }) else { return }
        inbox.post { _ in feedback.keyFrameNeeded() }
    }

    func limit(_ limit: VideoLimit) {
        guard let feedback = state.withLock({ $0.video?.feedback }) else { return }
        inbox.post { _ in feedback.limitChanged(limit) }
    }

    func tellState() {
        let news = state.withLock { state -> (any PublicationFeedback, PublicationState)? in
            guard let video = state.video, video.told != .failed, state.failure == nil,
                !state.isClosed
            else { return nil }
            let stage: Stage =
                video.isMuted
                ? .paused
                : state.isConnected ? .sending : video.told == .negotiating ? .negotiating : .paused
            guard stage != video.told else { return nil }
            state.video?.told = stage
            return (video.feedback, stage == .sending ? .sending : .paused)
        }
        if let (feedback, state) = news { inbox.post { _ in feedback.stateChanged(state) } }
    }
}
