internal import MediaCore
internal import Synchronization

/// Owns one renderer and calls it on an executor of its own.
actor VideoSinkHost: ObjectHost {
    nonisolated let executor: SerialQueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let sink: any VideoSink
    private var lifecycle: LifecycleState
    private var failures = 0
    nonisolated let id: RendererID
    nonisolated let identity: ObjectIdentifier
    nonisolated let typeName: String
    nonisolated let options: RendererOptions
    nonisolated let feed: VideoSinkFeed
    private let account: SinkAccount?
    nonisolated private let wanted = Mutex<VideoPixelFormat?>(nil)
    nonisolated let trace: TransitionTrace
    nonisolated let retirement = Retirement()
    nonisolated private let events: EventHub

    /// - Parameter patience: The maximum time that a source waits for room in the queue, if it
    ///   waits at all.
    init(
        _ sink: sending any VideoSink, id: RendererID, options: RendererOptions, isOffline: Bool,
        patience: Duration, clock: @escaping @Sendable () -> MediaTime, trace: TransitionTrace,
        events: EventHub
    ) {
        self.id = id
        identity = ObjectIdentifier(sink)
        typeName = String(describing: type(of: sink))
        self.options = options
        self.trace = trace
        self.events = events
        let executor = SerialQueueExecutor("\(id)")
        self.executor = executor
        let reach = Reach()
        account = (sink as? any FrameBalanceReporting).map { SinkAccount($0, .video) }
        feed = VideoSinkFeed(
            options, isOffline: isOffline, patience: patience, on: executor.queue, clock: clock,
            account: account
        ) { item in
            guard let host = reach.host else { return .notStarted }
            return host.assumeIsolated { $0.render(item) }
        }
        lifecycle = LifecycleState(
            name: "\(id)", typeName: typeName, trace: trace, codes: .renderer)
        self.sink = sink
        reach.host = self
    }

    private final class Reach: @unchecked Sendable {  // set once, before the first item is posted
        weak var host: VideoSinkHost?
    }

    nonisolated var name: String { "\(id)" }

    /// The pixel format that the sink asked for; `nil` before the query.
    nonisolated var pixelFormat: VideoPixelFormat? { wanted.withLock { $0 } }

    func make(_ call: Transition.Call) throws(EngineError) {
        switch call {
        case .query: query()
        case .initialize:
            guard lifecycle.stage == .fresh, !isGivenUp else { return }
            query()
            try lifecycle.initialize(sink.shouldInitialize)
        case .start:
            guard lifecycle.stage == .initialized, !isGivenUp else { return }
            try lifecycle.start(sink.shouldStart)
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
            try lifecycle.stop(sink.shouldStop)
        case .dispose: try lifecycle.dispose(sink.shouldDispose)
        }
    }

    nonisolated func shut() { feed.abandon() }

    nonisolated func failureEvent(_ error: EngineError) -> EngineEvent {
        .rendererFailed(id, error)
    }

    private func query() {
        guard pixelFormat == nil else { return }
        _ = sink.bufferType()
        let format = sink.pixelFormat()
        wanted.withLock { $0 = format }
        trace.note(name, .query, .succeeded)
    }

    private func render(_ item: VideoSinkFeed.Item) -> FrameDisposition {
        guard lifecycle.stage == .started else { return .notStarted }
        do {
            let frame = try item.conversion?.frame() ?? item.frame
            try sink.render(frame)
            failures = 0
            return .accepted
        } catch {
            failures += 1
            // Only the first failure in a row is reported; all are counted.
            if failures == 1 {
                events.post(.rendererFailed(id, lifecycle.failure(of: "render", error)))
            }
            return .dropped(.failed)
        }
    }

    /// Runs `body` with the sink, on the host's executor.
    func perform<R: Sendable>(_ body: @Sendable (any VideoSink) throws -> R) rethrows -> R {
        try body(sink)
    }
}
