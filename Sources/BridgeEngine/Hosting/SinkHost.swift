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
    nonisolated let id: Media.ID
    nonisolated let identity: ObjectIdentifier
    nonisolated let typeName: String
    nonisolated let options: Media.Options
    nonisolated let feed: SinkFeed<Media>
    nonisolated private let converter: Media.Converter
    nonisolated private let wanted = Mutex<Media.Request?>(nil)
    private let account: SinkAccount?
    nonisolated let trace: TransitionTrace
    nonisolated let retirement = Retirement()
    nonisolated private let events: EventHub

    /// - Parameters:
    ///   - converter: The converter for this sink only.
    ///   - queueTimeout: The maximum time that a source waits for room in the queue, if it waits at all.
    init(
        _ sink: sending Media.Sink, id: Media.ID, options: Media.Options,
        converter: Media.Converter, clock: EngineClock, queueTimeout: Duration,
        trace: TransitionTrace, events: EventHub
    ) {
        self.id = id
        self.options = options
        self.converter = converter
        let endpoint = Media.endpoint(of: sink)
        identity = ObjectIdentifier(endpoint)
        typeName = String(describing: type(of: endpoint))
        self.trace = trace
        self.events = events
        let executor = SerialQueueExecutor("\(id)")
        self.executor = executor
        let reach = Reach()
        account = (endpoint as? any FrameBalanceReporting).map { SinkAccount($0, Media.kind) }
        var rendersAtOnce: (@Sendable (SinkFeed<Media>.Item) -> Bool)?
        if let queueing = endpoint as? any QueueingSink {
            rendersAtOnce = { item in
                queueing.queuesAtOnce(item.frame.liveTiming)
                    && Media.isUnconverted(item, for: reach.host?.request)
            }
        }
        feed = SinkFeed(
            Media.queue(for: options), clock: clock, queueTimeout: queueTimeout, on: executor.queue,
            account: account, rendersAtOnce: rendersAtOnce
        ) { item in
            guard let host = reach.host else { return .notStarted }
            return host.assumeIsolated { $0.render(item) }
        }
        feed.close()
        lifecycle = LifecycleState(
            name: "\(id)", typeName: typeName, trace: trace, codes: .renderer)
        self.sink = sink
        self.endpoint = endpoint
        reach.host = self
    }

    private final class Reach: @unchecked Sendable {  // set once, before the first item is posted
        weak var host: SinkHost?
    }

    nonisolated var name: String { "\(id)" }

    nonisolated var role: String { "renderer" }

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
            // If the host was retired meanwhile, `putAway()` runs after this call and closes the
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

    nonisolated func failureEvent(_ error: EngineError) -> EngineEvent { Media.failed(id, error) }

    private func query() {
        guard request == nil else { return }
        let asked = Media.query(sink)
        wanted.withLock { $0 = asked }
        trace.note(name, .query, .succeeded)
    }

    private func render(_ item: SinkFeed<Media>.Item) -> FrameDisposition {
        guard lifecycle.stage == .started else { return .notStarted }
        do {
            try Media.render(item, with: sink, as: request, by: converter)
            failures = 0
            return .accepted
        } catch {
            failures += 1
            // Only the first failure in a row is reported; all are counted.
            if failures == 1 {
                events.post(Media.failed(id, lifecycle.failure(of: "render", error)))
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
typealias AudioSinkHost = SinkHost<AudioMedia>
