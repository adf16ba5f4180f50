internal import MediaBasics
public import MediaCore

/// The engine of an RTC program: a video source, any number of renderers, preview and channel.
///
/// ```swift
/// let engine = MediaEngine()
/// try await engine.setVideoSource(PipelineVideoSource("v4l2src ! videoconvert"))
/// try await engine.setLocalVideoRenderer(PipelineVideoSink("autovideosink"))
/// try await engine.startPreview()
/// try await engine.joinChannel("room", userID: 7)
/// ```
///
/// Preview and channel each hold the source: it starts with the first and stops with the last. The
/// program's own classes are called by the engine alone, one call at a time each, on threads of their
/// own. Operations run one after the other, in the order they were asked for.
///
/// Ownership: a source or renderer that is handed over is the engine's; it is kept until another takes
/// its place, or the engine is gone. Thread: any.
public actor MediaEngine {
    nonisolated let executor = SerialQueueExecutor("engine")
    nonisolated let fallbackQueue = SerialQueue(label: "mediabridge.fallback")
    /// Where the backend is asked what may take a while.
    nonisolated let controlQueue = SerialQueue(label: "mediabridge.control")
    nonisolated public var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// How this engine behaves.
    nonisolated public let configuration: Configuration
    nonisolated let backend: any MediaBackend
    nonisolated let transport: any ChannelTransport
    nonisolated let clock: EngineClock
    nonisolated let hub = EventHub()
    nonisolated let transitions = TransitionTrace()
    nonisolated let remote: RemoteParticipants
    nonisolated let pushes = PushTable()
    /// Of all frames that went to channels.
    nonisolated let outgoing = FlowMeter()
    /// Where tracks tell what the engine must act upon; bound to it once it is there.
    nonisolated let relay: TrackEventRelay
    /// The way of the engine's own sound.
    nonisolated let audioTrack: AudioTrack
    nonisolated let audioPushes = AudioPushSource()
    nonisolated let pulls = PlaybackPullFormat()
    /// All users, for the sinks of the playback.
    nonisolated let mixed = AudioStream()
    nonisolated let playbackQueue = SerialQueue(label: "mediabridge.playback")
    /// Of all sound that went to channels.
    nonisolated let outgoingAudio = AudioFlowMeter()
    /// The track of the video source.
    nonisolated let mainTrack: LocalTrack

    nonisolated let turnstile = Turnstile()
    /// For what enters and leaves channels: a transport that does not answer keeps nothing else waiting.
    /// Entered before ``turnstile``, where both are.
    nonisolated let channelTurnstile = Turnstile()
    var sourceNumber = 0
    var rendererNumber = 0
    var trackNumber = 0
    var holds: Set<Hold> = []
    /// The tracks by number; the main one always.
    var slots: [TrackID: TrackSlot]
    /// What the program set as its source; `nil` for the default.
    var chosen: VideoSourceHost?
    /// The host of push mode, while it is enabled.
    var pushHost: VideoSourceHost?
    var renderers: [RendererID: RendererEntry] = [:]
    var membership: (any ChannelMembership)?
    var session: RemoteSession?
    /// The stay in a channel that has not answered yet.
    var joining: JoinAttempt?
    var channel: ChannelRequest?
    var role = ChannelRole.broadcaster
    var publishers: [TrackID: Publisher] = [:]
    var encoder = VideoEncoderConfiguration()
    var audio = AudioState()
    var heartbeat: Heartbeat?
    /// What has a call under way that does not return.
    var overdue: [Overdue] = []
    var lastStatistics = MediaTime.zero
    /// Counts of what was removed.
    var gone = EngineStatistics.Gone()
    /// The statistics of an engine that was shut down.
    var finalStatistics: EngineStatistics?
    var isShutDown = false

    /// - Parameters:
    ///   - backend: What captures, converts and decodes; ``MediaBridge`` has GStreamer's.
    ///   - transport: The way to other engines.
    public init(
        configuration: Configuration = Configuration(), backend: any MediaBackend,
        transport: any ChannelTransport
    ) {
        self.configuration = configuration
        self.backend = backend
        self.transport = transport
        let clock = EngineClock(
            backend, isOffline: configuration.pace == .asFastAsPossible,
            latency: MediaTime(configuration.latency))
        self.clock = clock
        remote = RemoteParticipants(
            clock: clock, backend: backend, events: hub, jitterBuffer: configuration.jitterBuffer)
        let relay = TrackEventRelay(executor)
        self.relay = relay
        mainTrack = LocalTrack(
            .main, clock: clock, backend: backend, events: hub,
            keepsLastFrame: configuration.keepsLastFrame, patience: configuration.patience
        ) { track, news in relay.tell(track.id, news) }
        audioTrack = AudioTrack(
            clock: clock, events: hub, configuration: configuration.audioContinuity
        ) { relay.tellOfSound() }
        slots = [.main: TrackSlot(track: mainTrack)]
        relay.engine = self
    }

    deinit {
        heartbeat?.cancel()
        for slot in slots.values {
            slot.host?.retire()
            slot.track.close()
        }
        pushHost?.retire()
        for entry in renderers.values { entry.host.retire() }
        audio.playback?.cancel()
        audio.running?.retire()
        audioTrack.stopBlocking()
        for entry in audio.sinks.values { entry.host.retire() }
        session?.end()
        if let membership { ControlTask.start { await membership.leave() } }
        hub.finish()
    }

    func makeTrack(_ id: TrackID) -> LocalTrack {
        let relay = self.relay
        return LocalTrack(
            id, clock: clock, backend: backend, events: hub,
            keepsLastFrame: configuration.keepsLastFrame, patience: configuration.patience
        ) { track, news in relay.tell(track.id, news) }
    }

    /// What keeps the source running.
    enum Hold: Hashable { case preview, channel }

    // MARK: What happens

    /// What happens from here on; each value is for one reader.
    nonisolated public var events: EngineEvents { hub.subscribe() }

    /// Every call of the state machine to the program's objects, in order; the last thousand.
    nonisolated public var trace: [Transition] { transitions.all }

    /// The engine's time now: zero when it was made. The best stamp for frames of the program's own.
    nonisolated public var runningTime: MediaTime { clock.now }

    // MARK: One operation at a time

    /// - Parameter what: What is given up in a task that is cancelled; `nil` for what must be done.
    func enter(cancelling what: String? = nil) async throws(EngineError) {
        try await enter(turnstile, cancelling: what)
    }

    func enter(
        _ turnstile: Turnstile, cancelling what: String? = nil
    ) async throws(EngineError) {
        if let what, Task.isCancelled { throw Self.cancelled(what) }
        guard await turnstile.enter(isCancellable: what != nil) else {
            throw Self.cancelled(what ?? "the operation")
        }
        guard isShutDown else { return }
        turnstile.leave()
        throw Self.afterShutDown
    }

    static let afterShutDown = EngineError(.shutDown, message: "the engine was shut down")

    static func cancelled(_ what: String) -> EngineError {
        EngineError(
            .cancelled, message: "\(what) was cancelled", underlying: CancellationError())
    }

    func leave() { turnstile.leave() }

    /// Ends everything: leaves the channel, stops and disposes of sources and renderers, ends the
    /// events. Everything else throws ``EngineError/Code/shutDown`` from here on.
    ///
    /// An engine that is let go of does the same, without anybody to wait for it.
    public func shutDown() async {
        joining?.abandon()
        do throws(EngineError) { try await enter(channelTurnstile) } catch { return }
        defer { channelTurnstile.leave() }
        do throws(EngineError) { try await enter() } catch { return }
        defer { leave() }
        if membership != nil { await leaveNow() }
        await release(.preview)
        await takeDown { _ in true }
        await takeDownAudioSinks { _ in true }
        finalStatistics = statisticsNow()
        for entry in renderers.values { detach(entry) }
        renderers = [:]
        for id in slots.keys { pushes[id] = nil }
        for slot in slots.values { slot.track.close() }
        slots = [.main: TrackSlot(track: mainTrack)]
        (chosen, pushHost) = (nil, nil)
        await shutDownAudio()
        stopHeartbeat()
        isShutDown = true
        hub.finish()
    }
}

/// Brings news from threads of all kinds to the engine, in their order.
final class TrackEventRelay: @unchecked Sendable {  // set once, before the engine is anybody's
    weak var engine: MediaEngine?
    private let executor: SerialQueueExecutor

    init(_ executor: SerialQueueExecutor) { self.executor = executor }

    /// The source of sound may have ended.
    func tellOfSound() {
        executor.queue.async { [weak engine] in
            engine?.assumeIsolated { $0.checkAudioEnding() }
        }
    }

    func tell(_ track: TrackID, _ news: LocalTrack.SourceEvent) {
        executor.queue.async { [weak engine] in
            engine?.assumeIsolated { $0.heard(news, of: track) }
        }
    }
}
