internal import BridgeEngine
internal import GStreamerKit
internal import MediaBasics
public import MediaBridge
public import MediaCore
internal import Synchronization

/// A sink that publishes to a WHIP server: a media server, or `gst-bridge receive`.
///
/// ```swift
/// let sink = try WHIPSink("https://media.example/whip", token: token)
/// try await engine.setLocalVideoRenderer(sink)
/// try await engine.addAudioSink(sink.audio)
/// ```
///
/// Pictures are encoded within what the network carries; units of H.264 and VP8 are sent as they are. It
/// connects with the first picture or unit, whose codec the session then has. A connection that fails after it
/// has worked is made anew, after 0.5 s, 1 s, 2 s … 8 s, until the sink is stopped; nothing is kept meanwhile.
/// A server that refuses the first time is an error. Thread: any.
public final class WHIPSink: VideoSink, Sendable {
    /// How a sink sends.
    public struct Configuration: Hashable, Sendable {
        /// How pictures are encoded. Without a codec, the default, it is H.264, or VP8 if the server does not take
        /// that.
        public var video = VideoEncoderConfiguration()
        /// How sound is encoded. The codec is Opus.
        public var audio = AudioEncoderConfiguration()
        /// Whether there is sound to be sent. Default true.
        public var hasAudio = true
        /// How the server is reached.
        public var connection = PeerConnection.Configuration()

        /// Creates a configuration with the default values.
        public init() {}
    }

    private struct State {
        var isOpen = false
        var hasAudio = true
        /// The codec of the session; `nil` before the first picture.
        var codec: EncodedVideoFrame.Codec?
        var publisher: MediaPublisher?
        var link: WHIPLink?
        var failure: PeerError?
        var refused = DropCounts()
        var onKeyFrameNeeded: @Sendable () -> Void = {}
        var onFailure: @Sendable (PipelineError) -> Void = { _ in }
        /// When the first media that is not live came, and its time.
        var pace: (start: ContinuousClock.Instant, time: MediaTime)?
    }
    private let state: Mutex<State>
    private let client: SignallingClient
    private let configuration: Configuration
    private let backend = GStreamerBackend()
    /// Signalled to end a wait for the time at which media is due.
    private let ending = MonotonicSignal()

    /// Creates a sink. Does not connect.
    ///
    /// - Parameters:
    ///   - url: The URL of the server's endpoint: `https://HOST/PATH`.
    ///   - token: The bearer token; `nil`, the default, for none.
    ///   - configuration: How it sends.
    /// - Throws: `PipelineError` for a URL or a token that cannot be used.
    public init(
        _ url: String, token: String? = nil, configuration: Configuration = Configuration()
    ) throws(PipelineError) {
        do throws(PeerError) { client = try SignallingClient(url, token: token) } catch {
            throw PipelineError(error)
        }
        self.configuration = configuration
        state = Mutex(State(hasAudio: configuration.hasAudio))
    }

    /// The sink of the sound of the same session.
    public var audio: any AudioSink & Sendable { WHIPAudio(self) }

    /// Why the sink has failed; `nil` if it has not.
    public var failure: PeerError? { state.withLock { $0.failure } }

    // MARK: VideoSink

    /// Returns H.264 and VP8.
    public func codecs() -> Set<EncodedVideoFrame.Codec> { [.h264, .vp8] }

    /// Lets media in.
    public func shouldStart() throws {
        state.withLock { state in
            (state.isOpen, state.failure, state.codec, state.pace) = (true, nil, nil, nil)
            // The counts of the last run end here.
            state.publisher = nil
        }
    }

    /// Ends the session. Blocks for up to two seconds.
    public func shouldStop() throws {
        let isOver = MonotonicSignal()
        Task {
            await finish()
            isOver.signal()
        }
        isOver.wait(for: .seconds(5))
    }

    /// Sends a picture. Throws the reason if the session has failed for good.
    public func render(_ frame: VideoFrame) throws {
        if let failure { throw failure }
        _ = take(frame)
    }

    /// Sends a unit. Throws the reason if the session has failed for good.
    public func render(_ unit: EncodedVideoFrame) throws {
        if let failure { throw failure }
        _ = take(unit)
    }

    // MARK: Media

    /// Returns the publisher, which the first picture or unit makes.
    private func publisher(for codec: EncodedVideoFrame.Codec?) -> MediaPublisher? {
        let (publisher, isNew) = state.withLock { state -> (MediaPublisher?, Bool) in
            guard state.isOpen else { return (nil, false) }
            if let publisher = state.publisher { return (publisher, false) }
            let fresh = MediaPublisher(backend, onKeyFrameNeeded: state.onKeyFrameNeeded) {
                [weak self] error in
                self?.failed(
                    PeerError(.failed, message: "what is sent cannot be encoded: \(error)"))
            }
            state.publisher = fresh
            state.codec = codec ?? configuration.video.codec ?? .h264
            return (fresh, true)
        }
        if isNew, let publisher {
            // Units are sent as they are, and what the caller has chosen is not changed.
            let isFixed = codec != nil || configuration.video.codec != nil
            connect(publisher, others: isFixed ? [] : [.vp8])
        }
        return publisher
    }

    private func connect(_ publisher: MediaPublisher, others: [EncodedVideoFrame.Codec]) {
        let (codec, hasAudio) = state.withLock { ($0.codec ?? .h264, $0.hasAudio) }
        let link = WHIPLink(
            client, codec, others: others, hasAudio: hasAudio, configuration.connection, publisher
        ) { [weak self] error in
            self?.failed(error)
        }
        state.withLock { $0.link = link }
        // Nothing is encoded before somebody takes it.
        publisher.begin(link.video, configuration.video)
        publisher.stateChanged(.paused)
        if hasAudio {
            publisher.beginAudio(
                PeerAudioPublication(.opus, to: link.slot), configuration.audio)
        }
        link.begin()
    }

    private func failed(_ error: PeerError) {
        let onFailure = state.withLock { state in
            state.failure = error
            state.isOpen = false
            return state.onFailure
        }
        onFailure(PipelineError(error))
    }

    /// Waits until media that is not live is due.
    private func pace(_ time: MediaTime?, _ live: LiveTiming?) {
        guard live == nil, let time else { return }
        let due = state.withLock { state -> ContinuousClock.Instant in
            let pace = state.pace ?? (.now, time)
            state.pace = pace
            return pace.start + (time - pace.time).duration
        }
        let wait = due - .now
        guard wait > .zero, wait < .seconds(10) else { return }
        if ending.wait(for: wait) { ending.signal() }
    }

    private func refuse(_ cause: DropCause) -> FrameDisposition {
        state.withLock { $0.refused[cause] += 1 }
        return .dropped(cause)
    }

    func takeAudio(_ frame: AudioFrame) -> FrameDisposition {
        guard let publisher = state.withLock({ $0.isOpen ? $0.publisher : nil }) else {
            return .notStarted
        }
        publisher.consume(frame)
        return .accepted
    }
}

extension WHIPSink: BridgeDestination {
    package func begin(
        _ streams: Set<MediaKind>, onKeyFrameNeeded: @escaping @Sendable () -> Void,
        onFailure: @escaping @Sendable (PipelineError) -> Void
    ) {
        state.withLock { state in
            state.hasAudio = streams.contains(.audio)
            state.onKeyFrameNeeded = onKeyFrameNeeded
            state.onFailure = onFailure
            state.isOpen = true
        }
    }

    package func take(_ frame: consuming VideoFrame) -> FrameDisposition {
        guard let publisher = publisher(for: nil) else { return refuse(.closed) }
        pace(frame.runningTime, frame.liveTiming)
        publisher.consume(frame)
        return .accepted
    }

    package func take(_ unit: EncodedVideoFrame) -> FrameDisposition {
        guard codecs().contains(unit.codec) else { return refuse(.badFormat) }
        guard let publisher = publisher(for: unit.codec) else { return refuse(.closed) }
        pace(unit.runningTime, unit.liveTiming)
        publisher.consume(unit)
        return .accepted
    }

    package func take(_ frame: AudioFrame) -> FrameDisposition {
        pace(frame.runningTime, frame.liveTiming)
        return takeAudio(frame)
    }

    package func take(_ unit: EncodedAudioFrame) -> FrameDisposition {
        guard unit.codec == .opus else { return refuse(.badFormat) }
        pace(unit.runningTime, unit.liveTiming)
        return state.withLock { $0.link }?.slot.present?.send(unit) ?? .notStarted
    }

    package func finish() async {
        ending.signal()
        let (publisher, link) = state.withLock { state in
            state.isOpen = false
            return (state.publisher, state.link.take())
        }
        await publisher?.stop(within: .seconds(2))
        await link?.end()
    }

    package var balance: FrameBalance {
        let (publisher, refused) = state.withLock { ($0.publisher, $0.refused) }
        var balance = publisher?.balance ?? FrameBalance()
        balance.offered += refused.total
        balance.dropped = balance.dropped + refused
        return balance
    }
}

/// The sound of a ``WHIPSink``.
private final class WHIPAudio: AudioSink, Sendable {
    private let sink: WHIPSink
    init(_ sink: WHIPSink) { self.sink = sink }

    func render(_ frame: AudioFrame) throws {
        if let failure = sink.failure { throw failure }
        _ = sink.takeAudio(frame)
    }
}
