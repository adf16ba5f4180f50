internal import MediaCore

/// Owns one source and calls it on a dedicated executor.
actor SourceHost<Media: HostedSource>: ObjectHost {
    nonisolated let executor: SerialQueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let source: Media.Source
    /// The same object, for the calls of its life cycle.
    private let endpoint: any MediaEndpoint
    private var lifecycle: LifecycleState
    private var isQueried = false
    nonisolated let port: SourcePort<Media>
    nonisolated let identity: ObjectIdentifier
    nonisolated let name: String
    nonisolated let typeName: String
    nonisolated let retirement = Retirement()
    /// The track, for events.
    private nonisolated let trackID: MediaTrackID

    init(
        _ source: sending Media.Source, number: Int, to receiver: any SourceReceiver<Media>,
        trace: TransitionTrace
    ) {
        let endpoint = Media.endpoint(of: source)
        identity = ObjectIdentifier(endpoint)
        typeName = String(describing: type(of: endpoint))
        name = "\(Media.sourceName) \(number)"
        let executor = SerialQueueExecutor(name)
        self.executor = executor
        port = SourcePort(to: receiver, from: executor)
        trackID = receiver.mediaTrackID
        lifecycle = LifecycleState(name: name, typeName: typeName, trace: trace, codes: .source)
        self.source = source
        self.endpoint = endpoint
    }

    nonisolated var role: String { "source" }

    func make(_ call: Transition.Call) throws(EngineError) {
        switch call {
        case .query: query()
        case .initialize: try initialize()
        case .start: try start()
        case .stop:
            port.close()
            try lifecycle.stop(endpoint.shouldStop)
        case .dispose:
            guard lifecycle.stage == .initialized else { return }
            defer { Media.connect(source, to: nil) }
            try lifecycle.dispose(endpoint.shouldDispose)
        }
    }

    nonisolated func shut() { port.close() }

    nonisolated func failureEvent(_ error: EngineError) -> EngineEvent {
        .sourceFailed(trackID, error)
    }

    private func query() {
        guard !isQueried else { return }
        isQueried = true
        port.adopt(Media.query(source))
        lifecycle.trace.note(name, .query, .succeeded)
    }

    /// Queries the source if that was not done before, and initialises it. The consumer is set
    /// before the call.
    private func initialize() throws(EngineError) {
        guard lifecycle.stage == .fresh, !isGivenUp else { return }
        query()
        Media.connect(source, to: port)
        do throws(EngineError) { try lifecycle.initialize(endpoint.shouldInitialize) } catch {
            Media.connect(source, to: nil)
            throw error
        }
    }

    /// Starts the source. The gate opens when `shouldStart` has returned successfully.
    private func start() throws(EngineError) {
        guard lifecycle.stage == .initialized, !isGivenUp else { return }
        port.expectStart()
        do throws(EngineError) { try lifecycle.start(endpoint.shouldStart) } catch {
            port.close()
            throw error
        }
        // Has no effect if the host was retired meanwhile: that has closed the gate.
        port.open()
    }

    /// Asks the source for a key frame, if it runs.
    func requestKeyFrame() {
        guard lifecycle.stage == .started else { return }
        Media.requestKeyFrame(source)
    }

    /// Runs `body` with the source, on the host's executor.
    func perform<R: Sendable>(_ body: @Sendable (Media.Source) throws -> R) rethrows -> R {
        try body(source)
    }
}

extension SourceHost where Media == VideoMedia {
    /// Makes the source keep to a limit, as far as it can.
    ///
    /// - Returns: The parts that it keeps to; `nil` if it does not run.
    func adapt(to limit: VideoLimit) -> VideoLimit? {
        guard lifecycle.stage == .started else { return nil }
        return source.adapt(to: limit)
    }
}

typealias VideoSourceHost = SourceHost<VideoMedia>
typealias AudioSourceHost = SourceHost<AudioMedia>

// MARK: Kinds of sources

/// What differs between hosts of video sources and of audio sources.
protocol HostedSource: CountedMedia {
    /// `any VideoSource` or `any AudioSource`.
    associatedtype Source
    /// Begins the source's name in the trace.
    static var sourceName: String { get }
    static func endpoint(of source: Source) -> any MediaEndpoint
    /// Makes the calls of the query sequence.
    static func query(_ source: Source) -> SourceTraits
    static func connect(_ source: Source, to port: SourcePort<Self>?)
    /// Asks for a key frame.
    static func requestKeyFrame(_ source: Source)
}

extension HostedSource {
    static func requestKeyFrame(_ source: Source) {}
}

extension VideoMedia: HostedSource {
    static var sourceName: String { "source" }

    static func endpoint(of source: any VideoSource) -> any MediaEndpoint { source }

    static func query(_ source: any VideoSource) -> SourceTraits {
        var traits = SourceTraits()
        traits.bufferType = source.bufferType()
        traits.captureType = source.captureType()
        traits.contentHint = source.contentHint()
        traits.needsPacing = source.needsPacing()
        traits.timeBase = source.timeBase()
        return traits
    }

    static func connect(_ source: any VideoSource, to port: VideoSourcePort?) {
        source.consumer = port
    }

    static func requestKeyFrame(_ source: any VideoSource) { _ = source.requestKeyFrame() }
}

extension AudioMedia: HostedSource {
    static var sourceName: String { "audio source" }

    static func endpoint(of source: any AudioSource) -> any MediaEndpoint { source }

    static func query(_ source: any AudioSource) -> SourceTraits {
        var traits = SourceTraits()
        traits.needsPacing = source.needsPacing()
        traits.timeBase = source.timeBase()
        return traits
    }

    static func connect(_ source: any AudioSource, to port: AudioSourcePort?) {
        source.consumer = port
    }
}
