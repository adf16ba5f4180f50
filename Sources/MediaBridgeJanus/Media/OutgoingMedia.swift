internal import BridgeEngine
internal import MediaBasics
internal import MediaBridgeWebRTC
internal import MediaCore
internal import Synchronization

/// The media of one sending connection, as publications see it. It observes the connection and
/// outlives it: a connection may fail and be replaced. Thread: any.
final class OutgoingMedia: PeerConnectionObserver {
    private struct Publication {
        /// Distinguishes consecutive publications of a stream.
        let number: Int
        /// `nil` for audio.
        let feedback: (any PublicationFeedback)?
        var isMuted = false
        /// The last state that was reported to the publication, without its reason.
        var reported = Stage.negotiating
    }
    private enum Stage: Hashable, Sendable { case negotiating, sending, paused, failed }
    private struct State {
        var publications: [MediaKind: Publication] = [:]
        var connection: PeerConnection?
        var isConnected = false
        var hasWorked = false
        /// The codec of the latest video frame; `nil` before the first one.
        var codec: VideoCodec?
        var refused: Set<VideoCodec> = []
        /// Why sending has stopped; `nil` while it has not.
        var failure: EngineError?
        var isClosed = false
        var lastNumber = 0

        /// The connection, if media flows.
        var openConnection: PeerConnection? { isConnected ? connection : nil }
    }
    let feed: FeedID
    let signals = CurrentSignals()
    private let state = Mutex(State())
    /// Opened with the first video frame, and at the end.
    private let codecIsKnown = Latch()
    private let queue: ReceiverQueue
    private let ledger: Ledger
    /// Called when a stream is announced, muted or ended.
    private let onChange: @Sendable () -> Void

    init(
        _ feed: FeedID, _ queue: ReceiverQueue, _ ledger: Ledger,
        onChange: @escaping @Sendable () -> Void
    ) {
        self.feed = feed
        self.queue = queue
        self.ledger = ledger
        self.onChange = onChange
    }

    // MARK: The connection

    /// Whether anything is announced and sending is allowed.
    var isAnnounced: Bool {
        state.withLock { !$0.publications.isEmpty && !$0.isClosed && $0.failure == nil }
    }

    /// Clears the failure: another session may accept the media.
    func retry() {
        state.withLock { state in
            state.refused = []
            guard state.failure.take() != nil else { return }
            state.publications[.video]?.reported = .paused
        }
    }

    /// The video codec: that of the latest frame; before the first frame, the default encoder's.
    var videoCodec: VideoCodec {
        state.withLock { $0.codec ?? ($0.refused.contains(.h264) ? .vp8 : .h264) }
    }

    /// Whether a connection was ever established. If so, a failure may be temporary.
    var hasWorked: Bool { state.withLock { $0.hasWorked } }

    /// Whether video may be sent: it is not known to have failed.
    var mayHaveVideo: Bool { state.withLock { $0.publications[.video]?.reported != .failed } }

    /// Waits until the video codec is known, if video is published.
    ///
    /// - Parameter limit: The timeout. A source may deliver its first frame late.
    func waitForCodec(atMost limit: Duration) async {
        let isExpected = state.withLock {
            $0.codec == nil && $0.publications[.video] != nil && !$0.isClosed
        }
        if isExpected { _ = await codecIsKnown.wait(for: limit) }
    }

    /// Notes the codec of a frame. A codec that the connection does not carry requires a new
    /// connection.
    private func note(_ codec: VideoCodec) {
        let before = state.withLock { state in
            defer { state.codec = codec }
            return state.codec
        }
        guard before != codec else { return }
        codecIsKnown.open()
        if before != nil || codec != .h264 { onChange() }
    }

    var refusedCodecs: Set<VideoCodec> { state.withLock { $0.refused } }

    /// Notes that the room does not accept a codec.
    ///
    /// - Returns: Whether the publisher switches to another codec.
    func refuse(_ codec: VideoCodec) async -> Bool {
        let (feedback, hasOthers) = state.withLock { state in
            state.refused.insert(codec)
            if state.codec == codec {
                state.codec = nil
                codecIsKnown.reset()
            }
            return (state.publications[.video]?.feedback, !Self.codecs.isSubset(of: state.refused))
        }
        guard hasOthers else { return false }
        // There is no publication. The next one uses the remaining codecs.
        guard let feedback else { return true }
        return await withCheckedContinuation { continuation in
            queue.post { _ in
                continuation.resume(returning: feedback.codecsChanged())
            } undelivered: {
                continuation.resume(returning: false)
            }
        }
    }

    /// The modes of both streams as announced to the other users.
    var modes: (video: Feed.Stream.Mode, audio: Feed.Stream.Mode) {
        let publications = state.withLock { $0.publications }
        func mode(_ kind: MediaKind) -> Feed.Stream.Mode {
            publications[kind].map { $0.isMuted ? .muted : .on } ?? .off
        }
        return (mode(.video), mode(.audio))
    }

    /// Sets the connection; `nil` while it is being replaced.
    func setConnection(_ connection: PeerConnection?) {
        let before = state.withLock { state in
            defer { (state.connection, state.isConnected) = (connection, false) }
            return state.connection
        }
        withExtendedLifetime(before) {}
        ledger.setConnection(connection, of: feed)
        reportState()
    }

    func setConnected(_ isConnected: Bool) {
        let isNew = state.withLock { state in
            defer { state.isConnected = isConnected && state.connection != nil }
            if isConnected { state.hasWorked = true }
            return isConnected && !state.isConnected
        }
        reportState()
        if isNew { keyFrameNeeded() }
    }

    /// Stops sending because of an error.
    func fail(_ error: EngineError) {
        state.withLock { $0.failure = error }
        failVideo(error)
    }

    /// Stops sending video because of an error; audio continues.
    func failVideo(_ error: EngineError) {
        let feedback = state.withLock { state -> (any PublicationFeedback)? in
            guard state.publications[.video]?.reported != .failed else { return nil }
            state.publications[.video]?.reported = .failed
            return state.publications[.video]?.feedback
        }
        if let feedback { queue.post { _ in feedback.stateChanged(.failed(error)) } }
    }

    /// Ends all publications; nothing is accepted any more.
    func close() {
        let before = state.withLock { state in
            (state.isClosed, state.isConnected) = (true, false)
            return (state.connection.take(), state.publications.removeValue(forKey: .video))
        }
        withExtendedLifetime(before) {}
        codecIsKnown.open()
    }

    func stateChanged(_ state: PeerConnection.State) { signals.send(.state(state)) }

    func keyFrameNeeded() { notify { $0.keyFrameNeeded() } }

    func limitChanged(_ limit: VideoLimit) { notify { $0.limitChanged(limit) } }

    private func notify(_ body: @escaping @Sendable (any PublicationFeedback) -> Void) {
        guard let feedback = state.withLock({ $0.publications[.video]?.feedback }) else { return }
        queue.post { _ in body(feedback) }
    }

    private func reportState() {
        let news = state.withLock { state -> (any PublicationFeedback, PublicationState)? in
            guard let video = state.publications[.video], let feedback = video.feedback,
                video.reported != .failed,
                state.failure == nil, !state.isClosed
            else { return nil }
            let stage: Stage =
                video.isMuted
                ? .paused
                : state.isConnected
                    ? .sending : video.reported == .negotiating ? .negotiating : .paused
            guard stage != video.reported else { return nil }
            state.publications[.video]?.reported = stage
            return (feedback, stage == .sending ? .sending : .paused)
        }
        if let (feedback, state) = news { queue.post { _ in feedback.stateChanged(state) } }
    }

    // MARK: Publications

    /// Announces a stream.
    ///
    /// - Returns: The number of the publication; `nil` if the stream is already published.
    func publish(_ kind: MediaKind, _ feedback: (any PublicationFeedback)?) -> Int? {
        let (number, failure) = state.withLock { state -> (Int?, EngineError?) in
            guard state.publications[kind] == nil, !state.isClosed else { return (nil, nil) }
            if state.publications.isEmpty { state.failure = nil }
            state.lastNumber += 1
            state.publications[kind] = Publication(number: state.lastNumber, feedback: feedback)
            return (state.lastNumber, state.failure)
        }
        guard number != nil else { return nil }
        if let feedback {
            queue.post { _ in feedback.stateChanged(.negotiating) }
            if let failure { fail(failure) } else { reportState() }
        }
        onChange()
        return number
    }

    func end(_ kind: MediaKind, _ number: Int) {
        let ended = state.withLock { state -> Publication? in
            guard state.publications[kind]?.number == number else { return nil }
            return state.publications.removeValue(forKey: kind)
        }
        if ended != nil { onChange() }
    }

    func mute(_ isMuted: Bool, _ kind: MediaKind, _ number: Int) {
        let isChanged = state.withLock { state in
            guard let publication = state.publications[kind], publication.number == number,
                publication.isMuted != isMuted
            else { return false }
            state.publications[kind]?.isMuted = isMuted
            return true
        }
        guard isChanged else { return }
        if kind == .video {
            reportState()
            // The stream continues with a keyframe after the pause.
            if !isMuted { keyFrameNeeded() }
        }
        onChange()
    }

    /// The video codecs: the negotiated one, or before negotiation all codecs on offer.
    var videoCodecs: Set<VideoCodec> {
        let (connection, refused) = state.withLock { ($0.openConnection, $0.refused) }
        // If all codecs are refused, there is no publication that could use this value.
        let others = Self.codecs.subtracting(refused)
        return (connection?.videoCodec).map { [$0] } ?? (others.isEmpty ? Self.codecs : others)
    }

    /// The video codecs that a room may accept.
    static let codecs: Set<VideoCodec> = [.h264, .vp8]

    /// The fraction of audio packets that the server has recently lost, from 0 to 1.
    var soundLoss: Double {
        state.withLock { $0.openConnection }?.soundLoss ?? 0
    }

    func send(
        _ media: ChannelMedia, _ kind: MediaKind, _ number: Int
    ) -> FrameDisposition {
        if case .unit(let unit) = media {
            // The frame comes from an encoder that is being replaced.
            guard !state.withLock({ $0.refused.contains(unit.codec) }) else {
                return .dropped(.wrongBufferType)
            }
            if Self.codecs.contains(unit.codec) { note(unit.codec) }
        }
        let (connection, refusal) = state.withLock { state -> (PeerConnection?, FrameDisposition) in
            guard !state.isClosed else { return (nil, .dropped(.closed)) }
            guard let publication = state.publications[kind], publication.number == number else {
                return (nil, .dropped(.notStarted))
            }
            guard !publication.isMuted else { return (nil, .dropped(.muted)) }
            guard state.failure == nil else { return (nil, .dropped(.failed)) }
            return (state.openConnection, .dropped(.notConnected))
        }
        guard let connection else { return refusal }
        let disposition = connection.send(media)
        if disposition.isAccepted {
            let tally = kind == .video ? ledger.outgoing.video : ledger.outgoing.audio
            tally.count(.sent)
            tally.count(.delivered)
        }
        return disposition
    }
}

final class JanusPublication: ChannelPublication {
    private let media: OutgoingMedia
    private let kind: MediaKind
    /// `nil` if the stream was published already.
    private let number: Int?

    init(_ media: OutgoingMedia, _ kind: MediaKind, _ feedback: (any PublicationFeedback)?) {
        self.media = media
        self.kind = kind
        number = media.publish(kind, feedback)
    }

    var videoCodecs: Set<VideoCodec> { media.videoCodecs }
    var audioCodecs: Set<AudioCodec> { [.opus] }
    var lossOfReceivers: Double { media.soundLoss }

    func send(_ media: consuming ChannelMedia) -> FrameDisposition {
        self.media.send(media, kind, number ?? 0)
    }

    func setMuted(_ isMuted: Bool) {
        if let number { media.mute(isMuted, kind, number) }
    }

    func end() {
        if let number { media.end(kind, number) }
    }
}
