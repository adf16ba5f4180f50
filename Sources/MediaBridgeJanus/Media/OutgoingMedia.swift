internal import BridgeEngine
internal import MediaBasics
internal import MediaBridgeWebRTC
internal import MediaCore
internal import Synchronization

/// The media of one sending connection, as publications see it. It outlives the connection, which
/// may fail and be replaced. Thread: any.
final class OutgoingMedia: Sendable {
    private struct Video {
        let number: Int
        let feedback: any PublicationFeedback
        var isMuted = false
        /// The last state that was reported to the publication, without its reason.
        var told = Stage.negotiating
    }
    private struct Audio {
        let number: Int
        var isMuted = false
    }
    private enum Stage: Hashable, Sendable { case negotiating, sending, paused, failed }
    private struct State {
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
        /// Distinguishes consecutive publications of a track.
        var lastNumber = 0

        /// The connection, if media flows.
        var openConnection: PeerConnection? { isConnected ? connection : nil }
    }
    let feed: FeedID
    private let state = Mutex(State())
    private let inbox: Inbox
    private let ledger: Ledger
    /// Called when a stream is announced, muted or ended.
    private let onChange: @Sendable () -> Void

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
    private func note(_ codec: VideoCodec) {
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

    private func tellState() {
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

    // MARK: Publications

    /// Announces the video.
    ///
    /// - Returns: The number of the publication; `nil` if the track is already published.
    func publishVideo(_ feedback: any PublicationFeedback) -> Int? {
        let (number, failure) = state.withLock { state -> (Int?, EngineError?) in
            guard state.video == nil, !state.isClosed else { return (nil, nil) }
            if state.audio == nil { state.failure = nil }
            state.lastNumber += 1
            state.video = Video(number: state.lastNumber, feedback: feedback)
            return (state.lastNumber, state.failure)
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
            state.lastNumber += 1
            state.audio = Audio(number: state.lastNumber)
            return state.lastNumber
        }
        if number != nil { onChange() }
        return number
    }

    func endVideo(_ number: Int) {
        let ended = state.withLock { state -> Video? in
            guard state.video?.number == number else { return nil }
            return state.video.take()
        }
        if ended != nil { onChange() }
    }

    func endAudio(_ number: Int) {
        let isEnded = state.withLock { state in
            guard state.audio?.number == number else { return false }
            return state.audio.take() != nil
        }
        if isEnded { onChange() }
    }

    func muteVideo(_ isMuted: Bool, _ number: Int) {
        let isChanged = state.withLock { state in
            guard let video = state.video, video.number == number, video.isMuted != isMuted
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
            guard let audio = state.audio, audio.number == number, audio.isMuted != isMuted
            else { return false }
            state.audio?.isMuted = isMuted
            return true
        }
        if isChanged { onChange() }
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

    func send(_ unit: EncodedVideoFrame, _ number: Int) -> FrameDisposition {
        // The frame comes from an encoder that is being replaced.
        guard !state.withLock({ $0.refused.contains(unit.codec) }) else { return .wrongBufferType }
        if Self.codecs.contains(unit.codec) { note(unit.codec) }
        let route = state.withLock { state in
            let isCurrent = state.video?.number == number
            return Self.route(state, isMuted: isCurrent ? state.video?.isMuted : nil)
        }
        return pass(route, ledger.outgoing) { $0.send(unit) }
    }

    /// The fraction of audio packets that the server has recently lost, from 0 to 1.
    var soundLoss: Double {
        state.withLock { $0.openConnection }?.soundLoss ?? 0
    }

    func send(_ unit: EncodedAudioFrame, _ number: Int) -> FrameDisposition {
        let route = state.withLock { state in
            let isCurrent = state.audio?.number == number
            return Self.route(state, isMuted: isCurrent ? state.audio?.isMuted : nil)
        }
        return pass(route, ledger.outgoingAudio) { $0.send(unit) }
    }

    /// Where an encoded frame goes.
    private enum Route {
        case connection(PeerConnection)
        case nowhere(FrameDisposition)
    }

    /// - Parameter isMuted: Whether the publication is muted; `nil` if it has ended.
    private static func route(_ state: borrowing State, isMuted: Bool?) -> Route {
        guard !state.isClosed else { return .nowhere(.dropped(.closed)) }
        guard let isMuted else { return .nowhere(.notStarted) }
        guard !isMuted else { return .nowhere(.dropped(.muted)) }
        guard state.failure == nil else { return .nowhere(.dropped(.failed)) }
        guard let connection = state.openConnection else {
            return .nowhere(.dropped(.notConnected))
        }
        return .connection(connection)
    }

    private func pass(
        _ route: Route, _ tally: UnitTally, _ send: (PeerConnection) -> FrameDisposition
    ) -> FrameDisposition {
        switch route {
        case .nowhere(let disposition): return disposition
        case .connection(let connection):
            let disposition = send(connection)
            if disposition.isAccepted {
                tally.count(\.offered)
                tally.count(\.delivered)
            }
            return disposition
        }
    }
}

// MARK: - Publications

/// The publication of a track in a room.
final class JanusVideoPublication: VideoPublication {
    private let media: OutgoingMedia
    /// `nil` if the track was published already.
    private let number: Int?

    init(_ media: OutgoingMedia, _ number: Int?) {
        self.media = media
        self.number = number
    }

    var codecs: Set<VideoCodec> { media.videoCodecs }
    var carriesFrames: Bool { false }

    func send(_ frame: consuming VideoFrame) -> FrameDisposition { .notEnabled }

    func send(_ unit: EncodedVideoFrame) -> FrameDisposition {
        media.send(unit, number ?? 0)
    }

    func setMuted(_ isMuted: Bool) {
        if let number { media.muteVideo(isMuted, number) }
    }

    func end() {
        if let number { media.endVideo(number) }
    }
}

/// The publication of a user's audio in a room.
final class JanusAudioPublication: AudioPublication {
    private let media: OutgoingMedia
    /// `nil` if the audio was published already.
    private let number: Int?

    init(_ media: OutgoingMedia, _ number: Int?) {
        self.media = media
        self.number = number
    }

    var codecs: Set<AudioCodec> { [.opus] }
    var carriesFrames: Bool { false }
    var lossOfReceivers: Double { media.soundLoss }

    func send(_ frame: consuming AudioFrame) -> FrameDisposition { .notEnabled }

    func send(_ unit: EncodedAudioFrame) -> FrameDisposition {
        media.send(unit, number ?? 0)
    }

    func setMuted(_ isMuted: Bool) {
        if let number { media.muteAudio(isMuted, number) }
    }

    func end() {
        if let number { media.endAudio(number) }
    }
}
