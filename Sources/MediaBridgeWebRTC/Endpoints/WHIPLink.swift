internal import BridgeEngine
internal import MediaBasics
internal import MediaBridge
internal import MediaCore
internal import Synchronization

/// Maintains a session with a WHIP server: connects, and reconnects when an established connection
/// fails. If the server does not accept the video codec, the next codec is tried.
///
/// Thread: any.
final class WHIPLink: PeerConnectionObserver {
    private struct State {
        var connection: AnsweredConnection?
        var isConnected = false
        var hasWorked = false
        var attempts = 0
        /// The packets of the connections before the present one.
        var packets = PacketCounts()
        var retry: OneShotTimer?
        var isOver = false
        var media: PeerConnection.Media
        /// The video codecs that were not tried yet.
        var others: [VideoCodec]
    }
    private let state: Mutex<State>
    private let client: SignallingClient
    private let configuration: PeerConnection.Configuration
    private let publisher: MediaPublisher
    private let onFailure: @Sendable (PipelineError) -> Void
    private static let policy = {
        var policy = RestartPolicy()
        policy.longestDelay = .seconds(8)
        return policy
    }()
    /// Opened when the first session is established or has failed permanently, and at the end.
    let settled = Latch()

    /// - Parameters:
    ///   - codec: The video codec; `nil` for audio only.
    ///   - others: The other video codecs that the publisher can switch to.
    ///   - onFailure: Called if the first session cannot be negotiated, and for errors that a retry
    ///     cannot fix.
    init(
        _ client: SignallingClient, _ codec: VideoCodec?,
        others: [VideoCodec], hasAudio: Bool,
        _ configuration: PeerConnection.Configuration, _ publisher: MediaPublisher,
        onFailure: @escaping @Sendable (PipelineError) -> Void
    ) {
        self.client = client
        let media = PeerConnection.Media(
            video: codec.map { [$0] } ?? [], audio: hasAudio ? [.opus] : [])
        state = Mutex(State(media: media, others: others))
        self.configuration = configuration
        self.publisher = publisher
        self.onFailure = onFailure
    }

    /// The codec of the video, as a set; empty without video.
    var codecs: Set<VideoCodec> { Set(state.withLock { $0.media.video }) }

    /// The connected peer; `nil` while there is none.
    var peer: PeerConnection? {
        state.withLock { $0.isConnected ? $0.connection?.peer : nil }
    }

    /// The packets that were sent.
    var packets: PacketCounts {
        let (connection, before) = state.withLock { ($0.connection, $0.packets) }
        return before + (connection?.peer.statistics.packets ?? PacketCounts())
    }

    /// Takes the connection out of the state, and keeps its counts.
    private static func end(_ state: inout State) -> AnsweredConnection? {
        guard let connection = state.connection.take() else { return nil }
        state.packets = state.packets + connection.peer.statistics.packets
        state.isConnected = false
        return connection
    }

    func begin() { Task { await self.connect() } }

    private func connect() async {
        do throws(PipelineError) {
            let media = state.withLock { $0.media }
            let connection = try await client.connect(
                .sender, media, configuration, observer: self)
            // A server may accept only the audio.
            let takesMedia =
                media.video.isEmpty
                ? connection.peer.audioCodec != nil : connection.peer.videoCodec != nil
            guard takesMedia else {
                await connection.close()
                let what =
                    media.video.isEmpty
                    ? "audio as Opus" : "video as \(codecs.labels.joined(separator: ", "))"
                throw PipelineError(
                    .nothingInCommon, message: "the server does not accept \(what)",
                    advice: "another codec")
            }
            let (isOver, isConnected) = state.withLock { state in
                if !state.isOver { state.connection = connection }
                return (state.isOver, connection.peer.state == .connected)
            }
            if isOver { return await connection.close() }
            if isConnected { connected() }
        } catch {
            guard error.code == .nothingInCommon, changeCodec() else { return lost(error) }
            await connect()
        }
    }

    /// Switches to another codec for the first session.
    ///
    /// - Returns: False if no codec is left.
    private func changeCodec() -> Bool {
        let next = state.withLock { state -> VideoCodec? in
            guard !state.isOver, !state.hasWorked, let next = state.others.first else { return nil }
            state.others.removeFirst()
            state.media.video = [next]
            return next
        }
        return next != nil && publisher.codecsChanged()
    }

    private func connected() {
        state.withLock { state in
            state.isConnected = state.connection != nil
            (state.hasWorked, state.attempts) = (true, 0)
        }
        publisher.stateChanged(.sending)
        publisher.keyFrameNeeded()
        settled.open()
    }

    /// Schedules a reconnection, or gives up.
    private func lost(_ error: PipelineError) {
        let (connection, givesUp) = state.withLock { state -> (AnsweredConnection?, Bool) in
            let connection = Self.end(&state)
            guard !state.isOver else { return (connection, false) }
            let givesUp = !state.hasWorked || error.code == .unauthorized
            if !givesUp {
                let delay = max(
                    Self.policy.randomDelay(after: state.attempts), error.retryAfter ?? .zero)
                state.attempts += 1
                state.retry = OneShotTimer(after: delay) { [weak self] in self?.begin() }
            }
            return (connection, givesUp)
        }
        publisher.stateChanged(.paused)
        if let connection { Task { await connection.close() } }
        guard givesUp else { return }
        onFailure(error)
        settled.open()
    }

    func end() async {
        let connection = state.withLock { state in
            state.isOver = true
            state.retry = nil
            return Self.end(&state)
        }
        settled.open()
        await connection?.close()
    }

    // MARK: PeerConnectionObserver

    func stateChanged(_ now: PeerConnection.State) {
        switch now {
        case .connected:
            if state.withLock({ $0.connection != nil }) { connected() }
        case .failed(let error): lost(error)
        case .closed: lost(PipelineError(.unreachable, message: "the server ended the session"))
        case .new, .connecting, .disconnected: break
        }
    }

    func keyFrameNeeded() { publisher.keyFrameNeeded() }

    func limitChanged(_ limit: VideoLimit) { publisher.limitChanged(limit) }
}

// MARK: - Publications

/// Sends the encoded frames of one stream over a link. Thread: any.
final class WHIPPublication: ChannelPublication {
    let audioCodecs: Set<AudioCodec>
    private weak let link: WHIPLink?

    /// - Parameter audio: The codec of the audio; `nil` for the video.
    init(audio: AudioCodec? = nil, over link: WHIPLink) {
        audioCodecs = audio.map { [$0] } ?? []
        self.link = link
    }

    var videoCodecs: Set<VideoCodec> { audioCodecs.isEmpty ? link?.codecs ?? [] : [] }
    var lossOfReceivers: Double { link?.peer?.soundLoss ?? 0 }

    func send(_ media: consuming ChannelMedia) -> FrameDisposition {
        link?.peer?.send(media) ?? .dropped(.notStarted)
    }
    func setMuted(_ isMuted: Bool) {}
    func end() {}
}
