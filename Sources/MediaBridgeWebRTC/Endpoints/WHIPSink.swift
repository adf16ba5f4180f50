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
/// try await engine.addVideoSink(sink, to: .local())
/// try await engine.addAudioSink(sink.audio, to: .local)
/// ```
///
/// Raw frames are encoded at a bit rate that the network can carry. Encoded H.264 and VP8 frames
/// are sent without re-encoding. Frames of other codecs are an error, as are reordered frames
/// (B-frames). The sink connects with the first frame, which determines the codec of the session.
/// Media that is not live waits for the connection; live media is dropped until the connection is
/// established. A server that refuses the first connection is an error, and so is an end before any
/// media was sent.
///
/// An established connection that fails is replaced, until the sink is stopped: after 0.5 s, 1 s,
/// 2 s … 8 s, less a random part of up to a half, or after the `Retry-After` of the server if that
/// is longer (up to five minutes). Thread: any.
public final class WHIPSink: VideoSink, Sendable {
    /// The settings of a sink.
    public struct Configuration: Sendable {
        /// The video encoder settings. Default codec `nil`: H.264, or VP8 if the server does not
        /// accept H.264.
        public var video = VideoEncoderConfiguration()
        /// The audio encoder settings. The codec is Opus.
        public var audio = AudioEncoderConfiguration()
        /// Whether to send audio. Default true.
        public var hasAudio = true
        /// How the server is reached.
        public var connection = PeerConnection.Configuration()

        /// Creates a configuration with the default values.
        public init() {}
    }

    private struct State {
        var isOpen = false
        var hasVideo = true
        var hasAudio = true
        var publisher: MediaPublisher?
        var link: WHIPLink?
        var failure: PipelineError?
        var refused = DropCounts()
        /// The packets that the last run sent.
        var sent = PacketCounts()
        /// The number of encoded audio frames that were sent without re-encoding.
        var sentUnits = 0
        var onKeyFrameNeeded: @Sendable () -> Void = {}
        var onFailure: @Sendable (PipelineError) -> Void = { _ in }
        /// Tracks the order of the encoded frames.
        var order = PictureOrder()
        /// When the first media that is not live arrived, and its timestamp.
        var pace: (start: ContinuousClock.Instant, time: MediaTime)?
    }
    private let state: Mutex<State>
    private let client: SignallingClient
    /// How long the end of the media waits for the first connection.
    private static let longestWait = Duration.seconds(10).asDefaultDeadline
    private let configuration: Configuration
    private let backend = GStreamerBackend()
    /// Signalled to end a wait for the time at which media is due.
    private let ending = MonotonicSignal()
    /// Signalled when the first connection is established, or when waiting for it is pointless.
    private let settled = MonotonicSignal()
    /// Signalled when the first picture has created the session, or when waiting for it is pointless.
    private let begun = MonotonicSignal()

    /// Creates a sink. Does not connect.
    ///
    /// - Parameters:
    ///   - url: The URL of the server's endpoint: `https://HOST/PATH`.
    ///   - token: The bearer token; `nil`, the default, for none.
    ///   - configuration: The settings.
    /// - Throws: `PipelineError` for an invalid URL or token.
    public init(
        _ url: String, token: String? = nil, configuration: Configuration = Configuration()
    ) throws(PipelineError) {
        do throws(PipelineError) { client = try SignallingClient(url, token: token) } catch {
            throw error.asOfBridge
        }
        self.configuration = configuration
        state = Mutex(State(hasAudio: configuration.hasAudio))
    }

    /// The audio sink of the same session.
    public var audio: any AudioSink & Sendable { WHIPAudio(self) }

    /// Why the sink has failed; `nil` if it has not.
    package var failure: PipelineError? { state.withLock { $0.failure } }

    // MARK: VideoSink

    /// Returns the codecs of encoded frames that the sink takes: H.264 and VP8.
    public func codecs() -> Set<VideoCodec> { [.h264, .vp8] }

    /// Opens the sink: it now accepts media. Does not connect.
    public func shouldStart() {
        state.withLock { state in
            (state.isOpen, state.failure, state.pace) = (true, nil, nil)
            (state.order, state.sentUnits) = (PictureOrder(), 0)
            // The counts of the last run end here.
            state.publisher = nil
        }
        // The connection of the last run has ended, too.
        settled.wait(for: .zero)
        begun.wait(for: .zero)
    }

    /// Ends the session. Blocks for up to ten seconds while the first connection is being
    /// established, and then for up to two more seconds.
    public func shouldStop() {
        let isOver = MonotonicSignal()
        Task {
            await finish()
            isOver.signal()
        }
        isOver.wait(for: Self.longestWait + .seconds(5))
    }

    /// Encodes and sends a raw frame.
    ///
    /// - Throws: `PipelineError`: why the session has failed permanently.
    public func render(_ frame: VideoFrame) throws(PipelineError) {
        if let failure { throw failure }
        _ = take(frame)
    }

    /// Sends an encoded frame: H.264 or VP8, without B-frames.
    ///
    /// - Throws: `PipelineError`: why the session has failed permanently.
    public func render(_ frame: EncodedVideoFrame) throws(PipelineError) {
        if let failure { throw failure }
        _ = take(frame)
    }

    // MARK: Media

    /// Returns the publisher, which the first frame creates.
    private func publisher(for codec: VideoCodec?) -> MediaPublisher? {
        let (publisher, isNew) = state.withLock { state -> (MediaPublisher?, Bool) in
            guard state.isOpen else { return (nil, false) }
            if let publisher = state.publisher { return (publisher, false) }
            let fresh = MediaPublisher(backend, onKeyFrameNeeded: state.onKeyFrameNeeded) {
                [weak self] error in
                self?.failed(
                    PipelineError(.failed, message: "the media cannot be encoded: \(error)"))
            }
            state.publisher = fresh
            return (fresh, true)
        }
        if isNew, let publisher {
            // Encoded frames cannot change their codec, and a codec chosen by the caller is kept.
            let fixed = codec ?? configuration.video.codec
            connect(publisher, fixed ?? .h264, others: fixed == nil ? [.vp8] : [])
        }
        return publisher
    }

    private func connect(_ publisher: MediaPublisher, _ codec: VideoCodec, others: [VideoCodec]) {
        let (hasVideo, hasAudio) = state.withLock { ($0.hasVideo, $0.hasAudio) }
        let link = WHIPLink(
            client, hasVideo ? codec : nil, others: others, hasAudio: hasAudio,
            configuration.connection, publisher
        ) { [weak self] error in
            self?.failed(error)
        }
        state.withLock { $0.link = link }
        Task { [settled] in
            _ = await link.settled.wait()
            settled.signal()
        }
        if hasVideo {
            // Encoding starts when there is a receiver.
            publisher.begin(WHIPPublication(over: link), configuration.video)
            publisher.stateChanged(.paused)
        }
        if hasAudio {
            publisher.beginAudio(WHIPPublication(audio: .opus, over: link), configuration.audio)
        }
        link.begin()
        begun.signal()
    }

    private func failed(_ error: PipelineError) {
        begun.signal()
        let onFailure = state.withLock { state -> (@Sendable (PipelineError) -> Void)? in
            guard state.failure == nil else { return nil }
            state.failure = error
            state.isOpen = false
            return state.onFailure
        }
        onFailure?(error.asOfBridge)
    }

    /// Blocks until media that is not live is due: its timeline starts with the connection.
    private func pace(_ time: MediaTime?, _ live: LiveTiming?) {
        guard live == nil, let time else { return }
        if settled.wait(for: Self.longestWait) { settled.signal() }
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

    /// Ends the session because it cannot carry the media.
    private func refuse(_ what: String, advice: String) -> FrameDisposition {
        failed(PipelineError(.nothingInCommon, message: what, advice: advice))
        return refuse(.badFormat)
    }

    /// Returns the publisher of the audio. The first picture creates the session, or the audio if there is no
    /// video. Audio that is not live waits for the pictures, because a file's audio may be read first.
    private func audioPublisher(waits: Bool) -> MediaPublisher? {
        guard state.withLock({ $0.hasVideo }) else { return publisher(for: nil) }
        if waits {
            // Waits only once for pictures that do not come.
            begun.wait(for: Self.longestWait)
            begun.signal()
        }
        return state.withLock { $0.isOpen ? $0.publisher : nil }
    }

    /// The disposition of audio without a session.
    private var withoutSession: FrameDisposition {
        .dropped(state.withLock { $0.isOpen } ? .notConnected : .closed)
    }

    fileprivate func takeAudio(_ frame: AudioFrame, isPaced: Bool) -> FrameDisposition {
        guard let publisher = audioPublisher(waits: isPaced && frame.liveTiming == nil)
        else { return withoutSession }
        if isPaced { pace(frame.runningTime, frame.liveTiming) }
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
            state.hasVideo = streams.contains(.video)
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
        if let failure { return refuse(failure.code == .nothingInCommon ? .badFormat : .closed) }
        guard codecs().contains(unit.codec) else {
            return refuse(
                "WebRTC does not support \(unit.codec) video", advice: Self.encodingAdvice)
        }
        let isReordered = state.withLock { state in
            state.order.note(unit)
            return state.order.isReordered
        }
        guard !isReordered else {
            return refuse(
                "the video has B-frames, which WebRTC does not support",
                advice:
                    "x264enc with bframes=0 or tune=zerolatency; otherwise \(Self.encodingAdvice)")
        }
        guard let publisher = publisher(for: unit.codec) else { return refuse(.closed) }
        pace(unit.runningTime, unit.liveTiming)
        let disposition = publisher.consume(unit)
        // The publisher does not count this frame: a session has one codec.
        return disposition == .dropped(.wrongBufferType) ? refuse(.badFormat) : .accepted
    }

    private static var encodingAdvice: String {
        "\"! decodebin\" at the end of the capture, so that the media is encoded for WebRTC"
    }

    package func take(_ frame: AudioFrame) -> FrameDisposition { takeAudio(frame, isPaced: true) }

    package func take(_ unit: EncodedAudioFrame) -> FrameDisposition {
        guard unit.codec == .opus else {
            if failure != nil { return .dropped(.badFormat) }
            return refuse(
                "WebRTC does not support \(unit.codec) audio", advice: Self.encodingAdvice)
        }
        guard audioPublisher(waits: unit.liveTiming == nil) != nil else { return withoutSession }
        pace(unit.runningTime, unit.liveTiming)
        let disposition = state.withLock { $0.link }?.peer?.send(unit) ?? .dropped(.notStarted)
        guard disposition != .dropped(.notStarted) else { return withoutSession }
        if disposition.isAccepted { state.withLock { $0.sentUnits += 1 } }
        return disposition
    }

    package func finish() async {
        ending.signal()
        begun.signal()
        if let link = state.withLock({ $0.link }) {
            // A connection that never worked is a failure, even if the media ended before the
            // server answered.
            _ = await link.settled.wait(for: Self.longestWait)
        }
        let (publisher, link, sentUnits) = state.withLock { state in
            state.isOpen = false
            return (state.publisher, state.link.take(), state.sentUnits)
        }
        await publisher?.stop(within: .seconds(2))
        if let publisher, publisher.sentCount + sentUnits == 0 {
            failed(
                PipelineError(
                    .closed,
                    message:
                        "nothing was sent: the media ended before the connection was established",
                    advice: "longer media, or a server that answers faster"))
        }
        await link?.end()
        if let link { state.withLock { $0.sent = link.packets } }
        settled.signal()
        // These closures retain the bridge, which retains this sink.
        state.withLock { ($0.onKeyFrameNeeded, $0.onFailure) = ({}, { _ in }) }
    }

    package var packets: PacketCounts? { state.withLock { $0.link?.packets ?? $0.sent } }

    package var balance: FrameBalance {
        let (publisher, refused) = state.withLock { ($0.publisher, $0.refused) }
        var balance = publisher?.balance ?? FrameBalance()
        balance.offered += refused.total
        balance.dropped = balance.dropped + refused
        return balance
    }
}

/// The audio of a ``WHIPSink``.
private final class WHIPAudio: AudioSink, Sendable {
    private let sink: WHIPSink
    init(_ sink: WHIPSink) { self.sink = sink }

    func render(_ frame: AudioFrame) throws {
        if let failure = sink.failure { throw failure }
        _ = sink.takeAudio(frame, isPaced: false)
    }
}
