package import MediaBasics
public import MediaCore
internal import Synchronization

/// The engine of an RTC program: a video source, audio, any number of sinks, preview
/// and channel.
///
/// ```swift
/// let engine = MediaEngine()
/// try await engine.setVideoSource(PipelineVideoSource("v4l2src ! videoconvert"))
/// try await engine.addVideoSink(PipelineVideoSink("autovideosink"), to: .local())
/// try await engine.startPreview()
/// ```
///
/// Preview and channel each hold the source: it starts with the first hold and stops when the last
/// is released. Only the engine calls the program's objects: one call at a time for each object, on
/// that object's own thread. Operations run one after the other, in the order in which they were
/// requested.
///
/// Ownership: a source or sink that is passed to the engine belongs to it; the engine retains
/// it until it is replaced or the engine is released. Thread: any.
public actor MediaEngine {
    nonisolated let executor = SerialQueueExecutor("engine")
    nonisolated let fallbackQueue = SerialQueue(label: "mediabridge.fallback")
    /// The queue for backend calls that may take long.
    nonisolated let controlQueue = SerialQueue(label: "mediabridge.control")
    /// The executor of the engine's own thread.
    nonisolated public var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// The configuration with which the engine was created.
    nonisolated public let configuration: Configuration
    nonisolated let backend: any MediaBackend
    /// The connection to other engines; `nil` if this one has no channel.
    nonisolated let transport: (any ChannelTransport)?
    nonisolated let clock: EngineClock
    nonisolated let hub = EventHub<EngineEvent>()
    nonisolated let transitions = TransitionTrace()
    nonisolated let remote: RemoteParticipants
    /// The sources to which the program pushes, by track.
    nonisolated package let pushes = PushTable<any VideoSource & Sendable>()
    /// Counts all video frames for channels.
    nonisolated let outgoing = FlowMeter<VideoMedia>()
    /// Forwards the events of tracks to the engine; its `engine` is set at the end of `init`.
    nonisolated let relay: TrackEventRelay
    /// The path of the engine's own audio.
    nonisolated let audioTrack: AudioTrack
    /// The audio source to which the program pushes, under ``TrackID/main``.
    nonisolated package let audioPushes = PushTable<any AudioSource & Sendable>()
    /// The format in which the program pulls audio; `nil` if pulling is not enabled.
    nonisolated let pulled = Mutex<AudioFormat?>(nil)
    /// The mix of all users, for the playback sinks.
    nonisolated let mixed = AudioStream()
    nonisolated let playbackQueue = SerialQueue(label: "mediabridge.playback")
    /// Counts all audio frames for channels.
    nonisolated let outgoingAudio = FlowMeter<AudioMedia>()
    /// The track of the video source.
    nonisolated let mainTrack: LocalTrack

    nonisolated let turnstile = Turnstile()
    /// Serialises joining and leaving channels, so that a transport that does not answer blocks no
    /// other operation. If both are needed, it is entered before ``turnstile``.
    nonisolated let channelTurnstile = Turnstile()
    var sourceNumber = 0
    /// The numbers of the latest sinks.
    var sinkNumbers: [MediaKind: Int] = [:]
    var trackNumber = 0
    var holds: Set<Hold> = []
    /// The custom tracks and the main one by id.
    var slots: [TrackID: SourceSlot<VideoMedia>]
    var mainSlot: SourceSlot<VideoMedia> { slots[.main]! }  // never removed
    var audioSlot: SourceSlot<AudioMedia>
    var sinks = SinkTables()
    var membership: (any ChannelMembership)?
    var session: RemoteSession?
    /// Receives the answer of a channel that has not answered yet; `nil` once the attempt to join is
    /// abandoned.
    var joining: Once<JoinAnswer>?
    var channel: ChannelRequest?
    var role = ChannelRole.broadcaster
    /// What is sent to the channel.
    nonisolated let publishing = Mutex(Publishing())
    var encoder = VideoEncoderConfiguration()
    var audio = AudioState()
    var heartbeat: Heartbeat?
    /// Hosts with a call that has not returned.
    var overdue: [Overdue] = []
    var lastStatistics = MediaTime.zero
    var lastJitter = MediaTime.zero
    /// The counts of removed objects.
    var removed = EngineStatistics.Removed()
    /// The last statistics of an engine that was shut down.
    var finalStatistics: EngineStatistics?
    var isShutDown = false

    /// Creates an engine.
    ///
    /// - Parameters:
    ///   - configuration: The engine's behaviour.
    ///   - backend: Captures, converts and decodes; ``MediaBridge`` has the one for GStreamer.
    ///   - transport: The connection to other engines; `nil` for an engine without a channel.
    ///   - timeline: The time of deadlines, delays and periodic work.
    package init(
        configuration: Configuration = Configuration(), backend: any MediaBackend,
        transport: (any ChannelTransport)?, timeline: any Timeline = .system
    ) {
        self.configuration = configuration
        self.backend = backend
        self.transport = transport
        let clock = EngineClock(
            backend, isOffline: !configuration.isRealTime,
            latency: MediaTime(configuration.latency), timeline: timeline)
        self.clock = clock
        let relay = TrackEventRelay(executor)
        self.relay = relay
        remote = RemoteParticipants(
            clock: clock, backend: backend, events: hub,
            queueTimeout: configuration.queueTimeout,
            jitterBuffer: configuration.jitterBuffer)
        mainTrack = LocalTrack(
            .main, clock: clock, backend: backend, events: hub,
            keepsLastFrame: configuration.keepsLastFrame, queueTimeout: configuration.queueTimeout
        ) { relay.post($0, of: .video(.main)) }
        audioTrack = AudioTrack(clock: clock, events: hub) { relay.post($0, of: .audio) }
        slots = [.main: SourceSlot(mainTrack)]
        audioSlot = SourceSlot(audioTrack)
        relay.engine = self
    }

    isolated deinit {
        heartbeat?.cancel()
        for slot in slots.values {
            slot.host?.retire()
            slot.pushHost?.retire()
            slot.track.close()
        }
        for entry in sinks.video.values { entry.host.retire() }
        audio.playback?.cancel()
        audioSlot.host?.retire()
        audioTrack.stopBlocking()
        for entry in sinks.audio.values { entry.host.retire() }
        session?.end()
        if let membership { ControlTask.start { await membership.leave() } }
        hub.finish()
    }

    /// The publishers by track, and the tracks that are muted, published or not.
    struct Publishing {
        var publishers: [TrackID: Publisher] = [:]
        var muted: Set<TrackID> = []
    }

    /// A reason to keep the source running.
    enum Hold: Hashable { case preview, channel }

    // MARK: Events

    /// The engine's events from now on; each value supports one reader. Thread: any.
    nonisolated public var events: EventSequence<EngineEvent> { hub.subscribe() }

    /// All lifecycle calls to the program's objects, in order; at most the last 1000. Thread: any.
    ///
    /// Each entry names the object's kind and its number in this engine, the call, and the outcome
    /// unless the call succeeded: `source 1: start`, `video sink 3: initialize (refused)`. Outcomes are
    /// `refused` (the call returned false), `threw`, and `stuck` (the call did not return before its
    /// deadline, and the object was given up).
    nonisolated public var trace: [String] { transitions.all }

    /// The engine's current running time; zero when the engine was created. The recommended
    /// timestamp for frames that the program creates. Thread: any.
    nonisolated public var runningTime: MediaTime { clock.now }

    // MARK: One operation at a time

    /// Waits until no other operation runs.
    ///
    /// - Parameters:
    ///   - turnstile: Lets one operation in at a time; `nil` for the one of all operations.
    ///   - what: The operation's name for the error if the task is cancelled; `nil` if the operation
    ///     must not be cancelled.
    func enter(
        _ turnstile: Turnstile? = nil, cancelling what: String? = nil
    ) async throws(EngineError) {
        let turnstile = turnstile ?? self.turnstile
        if let what, Task.isCancelled { throw EngineError.cancelled(what) }
        guard await turnstile.enter(isCancellable: what != nil) else {
            throw EngineError.cancelled(what ?? "the operation")
        }
        guard isShutDown else { return }
        turnstile.leave()
        throw EngineError.afterShutDown
    }

    static let noChannel = EngineError(
        .invalidState, message: "this engine has no channel",
        advice: "create it with a transport, for example with a JanusTransport of MediaBridgeJanus")

    static let notInChannel = EngineError(.notInChannel, message: "not in a channel")

    func leave() { turnstile.leave() }

    /// Shuts the engine down: leaves the channel, stops and disposes of sources and sinks, and
    /// ends the event sequences. All other operations throw ``EngineError/Code/shutDown`` from then
    /// on.
    ///
    /// An engine that is released does the same, but nothing waits for it to finish.
    public func shutDown() async {
        joining.take()?.resume(nil)
        do throws(EngineError) { try await enter(channelTurnstile) } catch { return }
        defer { channelTurnstile.leave() }
        do throws(EngineError) { try await enter() } catch { return }
        defer { leave() }
        if membership != nil { await leaveNow() }
        await release(.preview)
        await tearDownSinks(VideoMedia.self) { _ in true }
        await tearDownSinks(AudioMedia.self) { _ in true }
        for slot in slots.values { await slot.endReport?.value }
        await audioSlot.endReport?.value
        let isStuck =
            sinks.video.values.contains { $0.host.isGivenUp }
            || sinks.audio.values.contains { $0.host.isGivenUp }
        finalStatistics = await complete(unless: isStuck, waiting: \.waiting) { statisticsNow() }
        for entry in sinks.video.values { VideoMedia.detach(entry, in: self) }
        sinks = SinkTables()
        for id in slots.keys { pushes[id] = nil }
        for slot in slots.values { slot.track.close() }
        slots = [.main: SourceSlot(mainTrack)]
        await shutDownAudio()
        stopHeartbeat()
        isShutDown = true
        hub.finish()
    }
}

/// Forwards events from any thread to the engine, in order.
final class TrackEventRelay: @unchecked Sendable {  // set once, before the engine is used
    weak var engine: MediaEngine?
    private let executor: SerialQueueExecutor

    init(_ executor: SerialQueueExecutor) { self.executor = executor }

    func post<Media: SourcedMedia>(_ event: SourceEvent<Media>, of track: MediaTrackID) {
        executor.queue.async { [weak engine] in
            engine?.assumeIsolated { $0.handle(event, of: track) }
        }
    }
}

// MARK: Configuration

extension MediaEngine {
    /// The configuration of an engine; the defaults suit a call.
    public struct Configuration: Sendable {
        /// The video that is sent while a source is silent.
        public enum Fallback: Sendable {
            /// Nothing.
            case nothing
            /// The last frame, repeated.
            case lastPicture
            /// A still picture.
            case still(PixelBuffer)
        }
        /// Whether the engine runs in real time: frames of a file are held until they are due, and slow
        /// receivers lose their oldest frames. If false, the engine runs as fast as it can: no frame is
        /// held and none is lost, because a source waits for the slowest receiver. Two runs over the same
        /// input then give the same output. Default true.
        public var isRealTime = true
        /// The minimum latency from capture to display, so that sources of different latency can
        /// replace each other without a jump. Default 50 ms: enough for a camera.
        public var latency = Duration.milliseconds(50)
        /// The deadline for one call of the program's own code. Default 5 s.
        public var callTimeout = Duration.seconds(5).asDefaultDeadline
        /// The deadline for the channel's answer to joining. Default 10 s.
        public var joinTimeout = Duration.seconds(10).asDefaultDeadline
        /// The deadline for the first frame of a source that replaces another, or of a snapshot.
        /// Default 5 s.
        public var firstFrameTimeout = Duration.seconds(5).asDefaultDeadline
        /// How long a source may be silent, or a video sink or processor busy, before an event
        /// reports it. Default 4 s.
        public var stallTimeout = Duration.seconds(4)
        /// The video that is sent while a source is silent. Default ``Fallback/nothing``.
        public var fallback = Fallback.nothing
        /// Whether the engine has video. Default true. If false, no video source is started, not
        /// even the default one.
        public var hasVideo = true
        /// How long the audio of other users waits before it is mixed.
        public var jitterBuffer = JitterBufferConfiguration()
        /// The policy for restarting a video or audio source that has failed, or a live one that has ended or
        /// delivered nothing for ten seconds; `nil`, the default, to never restart one.
        public var restart: RestartPolicy?
        /// The interval between ``EngineEvent/statistics(_:)`` events. Default 2 s; `nil` for none.
        public var statisticsInterval: Duration? = .seconds(2)

        /// Creates a configuration with the default values.
        public init() {}

        /// How long a source waits for a slow receiver. It is longer if no frame may be lost, so
        /// that a slow encoder is not taken for one that hangs.
        var queueTimeout: Duration { stallTimeout * (isRealTime ? 1 : 10) }

        /// Whether tracks keep the last frame that was passed on, to repeat it while a source is
        /// silent.
        var keepsLastFrame: Bool {
            guard case .lastPicture = fallback else { return false }
            return isRealTime
        }
    }
}
