internal import MediaCore
internal import Synchronization

/// Owns one sink and calls it on a dedicated executor.
actor SinkHost<Media: HostedSink>: ObjectHost {
    nonisolated let executor: SerialQueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let sink: Media.Sink
    /// The same object, for the calls of its life cycle.
    private let endpoint: any MediaEndpoint
    private var lifecycle: LifecycleState
    private var failures = 0
    nonisolated let id: SinkID
    nonisolated let identity: ObjectIdentifier
    nonisolated let typeName: String
    nonisolated let options: Media.Options
    nonisolated let feed: SinkFeed<Media>
    nonisolated private let converter: Media.Converter
    nonisolated private let wanted = Mutex<Media.Request?>(nil)
    private let account: SinkAccount?
    nonisolated let retirement = Retirement()
    nonisolated private let events: EventHub<EngineEvent>

    /// - Parameters:
    ///   - converter: The converter for this sink only.
    ///   - queueTimeout: The maximum time that a source waits for room in the queue, if it waits at all.
    init(
        _ sink: sending Media.Sink, id: SinkID, options: Media.Options,
        converter: Media.Converter, clock: EngineClock, queueTimeout: Duration,
        trace: TransitionTrace, events: EventHub<EngineEvent>
    ) {
        self.id = id
        self.options = options
        self.converter = converter
        let endpoint = Media.endpoint(of: sink)
        identity = ObjectIdentifier(endpoint)
        typeName = String(describing: type(of: endpoint))
        self.events = events
        let executor = SerialQueueExecutor("\(id)")
        self.executor = executor
        let reference = SelfReference<SinkHost>()
        account = (endpoint as? any FrameBalanceReporting).map { SinkAccount($0, Media.kind) }
        var rendersAtOnce: (@Sendable (SinkFeed<Media>.Item) -> Bool)?
        if let queueing = endpoint as? any QueueingSink {
            rendersAtOnce = { item in
                queueing.queuesAtOnce(item.frame.liveTiming)
                    && Media.isUnconverted(item, for: reference.object?.request)
            }
        }
        feed = SinkFeed(
            Media.queue(for: options), clock: clock, queueTimeout: queueTimeout, on: executor.queue,
            account: account, rendersAtOnce: rendersAtOnce
        ) { item in
            guard let host = reference.object else { return .dropped(.notStarted) }
            return host.assumeIsolated { $0.render(item) }
        }
        feed.close()
        lifecycle = LifecycleState(
            name: "\(id)", typeName: typeName, trace: trace, codes: .sink)
        self.sink = sink
        self.endpoint = endpoint
        reference.object = self
    }

    nonisolated var name: String { "\(id)" }

    nonisolated var role: String { "sink" }

    /// The sink's request; `nil` before the query.
    nonisolated var request: Media.Request? { wanted.withLock { $0 } }

    func make(_ call: Transition.Call) throws(EngineError) {
        switch call {
        case .query: query()
        case .initialize:
            guard lifecycle.stage == .fresh, !isGivenUp else { return }
            query()
            try lifecycle.initialize(endpoint.shouldInitialize)
        case .start:
            guard lifecycle.stage == .initialized, !isGivenUp else { return }
            try lifecycle.start(endpoint.shouldStart)
            failures = 0
            account?.begin()
            // If the host was retired meanwhile, `stopAndDispose()` runs after this call and closes the
            // feed again.
            feed.open()
        case .stop:
            feed.finish()
            guard lifecycle.stage == .started else { return }
            feed.freezes.pause()
            defer { account?.end() }
            try lifecycle.stop(endpoint.shouldStop)
        case .dispose: try lifecycle.dispose(endpoint.shouldDispose)
        }
    }

    nonisolated func shut() { feed.abandon() }

    nonisolated func failureEvent(_ error: EngineError) -> EngineEvent { .sinkFailed(id, error) }

    private func query() {
        guard request == nil else { return }
        let requested = Media.query(sink)
        wanted.withLock { $0 = requested }
        lifecycle.trace.note(name, .query, .succeeded)
    }

    private func render(_ item: SinkFeed<Media>.Item) -> FrameDisposition {
        guard lifecycle.stage == .started else { return .dropped(.notStarted) }
        do {
            try Media.render(item, with: sink, as: request, by: converter)
            failures = 0
            return .accepted
        } catch {
            failures += 1
            // Only the first failure in a row is reported; all are counted.
            if failures == 1 {
                events.post(.sinkFailed(id, lifecycle.failure(of: "render", error)))
            }
            return .dropped(.failed)
        }
    }

    /// Runs `body` with the sink, on the host's executor.
    func perform<R: Sendable>(_ body: @Sendable (Media.Sink) throws -> R) rethrows -> R {
        try body(sink)
    }
}

typealias VideoSinkHost = SinkHost<VideoMedia>

// MARK: Kinds of sinks

/// What differs between hosts of video sinks and of audio sinks.
protocol HostedSink: CountedMedia {
    /// `any VideoSink` or `any AudioSink`.
    associatedtype Sink
    /// What the program asked for when it added the sink.
    associatedtype Options: Sendable
    /// What the sink asked for when it was queried.
    associatedtype Request: Sendable
    /// Applies the request to frames that are not converted before the queue.
    associatedtype Converter: Sendable
    static var kind: MediaKind { get }
    static func endpoint(of sink: Sink) -> any MediaEndpoint
    static func makeConverter(_ backend: any MediaBackend) -> Converter
    /// Makes the calls of the query sequence.
    static func query(_ sink: Sink) -> Request
    static func queue(for options: Options) -> SinkQueueOptions
    /// Whether the item is rendered without a conversion.
    static func isUnconverted(_ item: SinkFeed<Self>.Item, for request: Request?) -> Bool
    /// Renders an item that left the queue.
    static func render(
        _ item: SinkFeed<Self>.Item, with sink: Sink, as request: Request?, by converter: Converter
    ) throws
}

/// What a video sink said when it was queried.
struct VideoSinkRequest: Sendable {
    let pixelFormat: VideoPixelFormat
    /// The codecs whose units it takes.
    let codecs: Set<VideoCodec>
}

extension VideoMedia: HostedSink {
    static var kind: MediaKind { .video }

    static func endpoint(of sink: any VideoSink) -> any MediaEndpoint { sink }

    static func makeConverter(_ backend: any MediaBackend) {}

    static func query(_ sink: any VideoSink) -> VideoSinkRequest {
        _ = sink.bufferType()
        return VideoSinkRequest(pixelFormat: sink.pixelFormat(), codecs: sink.codecs())
    }

    static func queue(for options: SinkOptions) -> SinkQueueOptions {
        SinkQueueOptions(depth: options.depth, whenFull: options.whenFull)
    }

    static func isUnconverted(
        _ item: VideoSinkFeed.Item, for request: VideoSinkRequest?
    ) -> Bool { item.conversion == nil }

    static func render(
        _ item: VideoSinkFeed.Item, with sink: any VideoSink, as request: VideoSinkRequest?,
        by converter: Void
    ) throws {
        switch item.frame {
        case .unit(let unit): try sink.render(unit)
        case .picture(let frame): try sink.render(item.conversion?.frame() ?? frame)
        }
    }
}

extension AudioMedia: HostedSink {
    static var kind: MediaKind { .audio }

    static func endpoint(of sink: any AudioSink) -> any MediaEndpoint { sink }

    static func makeConverter(_ backend: any MediaBackend) -> any AudioConverter {
        backend.makeAudioConverter()
    }

    static func query(_ sink: any AudioSink) -> AudioConversion { sink.audioFormat() }

    /// Two thirds of a second of audio in frames of 10 ms.
    static func queue(for options: Void) -> SinkQueueOptions { SinkQueueOptions(depth: 64) }

    static func isUnconverted(
        _ item: AudioSinkFeed.Item, for request: AudioConversion?
    ) -> Bool { request?.changes(item.frame.format) == false }

    static func render(
        _ item: AudioSinkFeed.Item, with sink: any AudioSink, as request: AudioConversion?,
        by converter: any AudioConverter
    ) throws {
        guard let request, request.changes(item.frame.format) else {
            return try sink.render(item.frame)
        }
        // `nil`: the converter needs more samples first.
        if let made = try converter.convert(item.frame, to: request) { try sink.render(made) }
    }
}
