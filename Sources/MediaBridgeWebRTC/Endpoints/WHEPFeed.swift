internal import GStreamerKit
internal import MediaBasics
public import MediaBridge
internal import MediaCore
internal import Synchronization

extension PipelineVideoSource {
    /// Creates a source that receives video and audio from a WHEP server: a media server, or `gst-bridge share`.
    ///
    /// ```swift
    /// let source = try PipelineVideoSource(whep: "https://media.example/whep", token: token)
    /// for try await frame in source.frames() { print(frame) }
    /// ```
    ///
    /// It connects when it is read or started, and disconnects at its end. The media is encoded: H.264 or VP8,
    /// and Opus. A recording and a channel take it unchanged; `frames()` decodes it. If the server ends the
    /// session, the stream ends. A failed connection is an error, and so is a refusal by the server.
    ///
    /// - Parameters:
    ///   - url: The URL of the server's endpoint: `https://HOST/PATH`.
    ///   - token: The bearer token; `nil`, the default, for none.
    ///   - connection: How the server is reached.
    /// - Throws: `PipelineError` for a URL or token that cannot be used, or if GStreamer lacks an element.
    public convenience init(
        whep url: String, token: String? = nil,
        connection: PeerConnection.Configuration = PeerConnection.Configuration()
    ) throws(PipelineError) {
        let client: SignallingClient
        do throws(PipelineError) { client = try SignallingClient(url, token: token) } catch {
            throw error.asOfBridge
        }
        // Without a decoder, the string fits all codecs.
        try self.init(
            WHEPFeed.text(.h264, .opus, isDecoded: false), feed: WHEPFeed(client, connection),
            configuration: .init())
    }
}

// MARK: - WHEPFeed

/// Feeds the media of a WHEP server into the appsrcs of a capture: connects when the pipeline plays, and
/// disconnects when it stops.
///
/// Thread: any.
final class WHEPFeed: CaptureFeed, PeerConnectionObserver {
    private struct State {
        var connection: AnsweredConnection?
        /// Set while a connection is being made.
        var isConnecting = false
        var isPlaying = false
        var failure: PipelineError?
        var inputs: [MediaKind: (source: AppSource, feed: EncodedFeed)] = [:]
        var baseTime = MediaTime.zero
        /// The time of the frame at which a keyframe was last requested.
        var requested: MediaTime?
        /// The counts of the last connection.
        var last = PeerStatistics()
        weak var pipeline: Pipeline?
    }
    private let state = Mutex(State())
    private let client: SignallingClient
    private let configuration: PeerConnection.Configuration

    /// The names of the appsrcs in the capture's string.
    private static func input(_ kind: MediaKind) -> String { "whep-\(kind.rawValue)" }

    /// The seconds of media after which a keyframe is requested again: the request may be lost.
    private static let requestInterval = 0.5

    init(_ client: SignallingClient, _ configuration: PeerConnection.Configuration) {
        self.client = client
        self.configuration = configuration
    }

    /// Returns the string of a capture that a feed fills.
    ///
    /// - Parameters:
    ///   - video: The codec of the video; `nil` without video.
    ///   - audio: The codec of the audio; `nil` without audio.
    ///   - isDecoded: Whether the capture decodes them.
    static func text(_ video: VideoCodec?, _ audio: AudioCodec?, isDecoded: Bool) -> String {
        let codecs = [video.map(PeerStream.Codec.video), audio.map(PeerStream.Codec.audio)]
        return codecs.compactMap(\.self).map { codec in
            let decoder = isDecoded ? PayloadEncoding.of(codec).map { " ! \($0.decoder)" } : nil
            return "appsrc name=\(input(codec.kind)) is-live=true format=time\(decoder ?? "")"
                + " ! appsink name=\(codec.kind.rawValue)"
        }.joined(separator: " ")
    }

    // MARK: Connection

    /// Connects before the pipeline plays, to learn which streams there are.
    ///
    /// - Returns: Their codecs.
    func connect() async throws(PipelineError) -> (video: VideoCodec?, audio: AudioCodec?) {
        let connection = try await openConnection()
        state.withLock { $0.connection = connection }
        return (connection.peer.videoCodec, connection.peer.audioCodec)
    }

    private func openConnection() async throws(PipelineError) -> AnsweredConnection {
        try await client.connect(
            .receiver, PeerConnection.Media(), configuration, observer: self)
    }

    func attach(to pipeline: Pipeline) {
        state.withLock { $0.pipeline = pipeline }
        let sources = pipeline.appSources
        for kind in [MediaKind.video, .audio] {
            guard let input = sources[Self.input(kind)] else { continue }
            // A server may forward pictures that are shown in another order.
            let feed = EncodedFeed(input, mayGoBack: true)
            state.withLock { $0.inputs[kind] = (input, feed) }
            guard kind == .video else { continue }
            input.element.pad("src")?.onKeyFrameRequest { [weak self] in
                self?.state.withLock { $0.connection }?.peer.requestKeyFrame()
            }
        }
        pipeline.onMessage { [weak self] message in
            guard case .stateChanged(let state) = message else { return }
            if state == .playing { self?.played() } else { self?.stopped() }
        }
    }

    /// Thread: the one that changes the state.
    private func played() {
        guard let base = state.withLock({ $0.pipeline })?.baseTime else { return }
        let (connection, isNeeded, failure) = state.withLock { state in
            (state.isPlaying, state.baseTime) = (true, MediaTime(base))
            state.inputs.values.forEach { $0.feed.reset() }
            let isNeeded = state.connection == nil && !state.isConnecting && state.failure == nil
            if isNeeded { state.isConnecting = true }
            return (state.connection, isNeeded, state.failure.take())
        }
        if let failure { return fail(failure) }
        connection?.peer.requestKeyFrame()
        guard isNeeded else { return }
        Task { await self.reconnect() }
    }

    private func reconnect() async {
        do throws(PipelineError) {
            let connection = try await openConnection()
            if !reconnected(connection) { await connection.close() }
        } catch {
            if reconnected(nil) { fail(error) }
        }
    }

    /// - Returns: Whether the result is still wanted.
    private func reconnected(_ connection: AnsweredConnection?) -> Bool {
        state.withLock { state in
            state.isConnecting = false
            if state.isPlaying { state.connection = connection }
            return state.isPlaying
        }
    }

    /// Thread: the one that changes the state.
    private func stopped() {
        let connection = state.withLock { state in
            guard state.isPlaying else { return nil as AnsweredConnection? }
            state.isPlaying = false
            return Self.end(&state)
        }
        if let connection { Task { await connection.close() } }
    }

    private func fail(_ error: PipelineError) {
        state.withLock { $0.pipeline }?.fail(error.asOfBridge)
    }

    deinit {
        if let connection = state.withLock({ $0.connection }) {
            Task { await connection.close() }
        }
    }

    // MARK: PeerConnectionObserver

    func stateChanged(_ now: PeerConnection.State) {
        let reason: PipelineError
        switch now {
        case .closed: reason = PipelineError(.unreachable, message: "the server ended the session")
        case .failed(let error): reason = error
        default: return
        }
        let (inputs, isPlaying, connection) = state.withLock { state in
            if !state.isPlaying { state.failure = reason }
            return (Array(state.inputs.values), state.isPlaying, Self.end(&state))
        }
        if isPlaying {
            if now == .closed { inputs.forEach { $0.source.endOfStream() } } else { fail(reason) }
        }
        if let connection { Task { await connection.close() } }
    }

    func receive(_ unit: EncodedVideoFrame) {
        let result = push(.video, unit.references, unit.runningTime, unit.liveTiming) {
            try unit.wrapped()
        }
        guard result == .dropped(.needsKeyFrame), let time = unit.runningTime else { return }
        let peer = state.withLock { state -> PeerConnection? in
            guard state.requested.map({ abs((time - $0).seconds) >= Self.requestInterval }) ?? true
            else { return nil }
            state.requested = time
            return state.connection?.peer
        }
        peer?.requestKeyFrame()
    }

    func receive(_ unit: EncodedAudioFrame) {
        push(.audio, .none, unit.runningTime, unit.liveTiming) { try unit.wrapped() }
    }

    /// - Returns: The outcome; `nil` for a frame that arrives while the capture does not run.
    @discardableResult
    private func push(
        _ kind: MediaKind, _ references: EncodedVideoFrameReferences, _ time: MediaTime?,
        _ live: LiveTiming?, wrapping wrap: () throws -> ElementChain.BufferWithCaps
    ) -> FrameDisposition? {
        let (input, baseTime) = state.withLock { state in
            (state.isPlaying ? state.inputs[kind] : nil, state.baseTime)
        }
        guard let input else { return nil }
        guard let time, let live else { return input.feed.lose(.dropped(.noTime)) }
        return input.feed.push(
            references, due: { time + live.clockOrigin - baseTime }, wrapping: wrap)
    }

    // MARK: Counts

    func drops(of stream: String) -> DropCounts {
        let feed = MediaKind(rawValue: stream).flatMap { kind in
            state.withLock { $0.inputs[kind]?.feed }
        }
        return feed?.counts.dropped ?? DropCounts()
    }

    func packets(of stream: String) -> PacketCounts {
        guard let kind = MediaKind(rawValue: stream) else { return PacketCounts() }
        let (connection, before) = state.withLock { ($0.connection, $0.last) }
        return (connection?.peer.statistics ?? before)[kind].packets
    }

    /// Takes the connection out of the state, and keeps its counts.
    private static func end(_ state: inout State) -> AnsweredConnection? {
        guard let connection = state.connection.take() else { return nil }
        state.last = connection.peer.statistics
        return connection
    }
}
