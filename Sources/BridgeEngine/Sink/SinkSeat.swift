internal import MediaCore
internal import Synchronization

/// Where one renderer lives.
actor SinkSeat: Seat {
    private enum Stage {
        case fresh, initialized, started
    }
    nonisolated let lane: Lane
    nonisolated var unownedExecutor: UnownedSerialExecutor { lane.asUnownedSerialExecutor() }

    private let sink: any VideoSink
    private var stage = Stage.fresh
    private var failures = 0
    nonisolated let id: RendererID
    nonisolated let identity: ObjectIdentifier
    nonisolated let typeName: String
    nonisolated let options: RendererOptions
    nonisolated let feed: SinkFeed
    nonisolated private let wanted = Mutex<VideoPixelFormat?>(nil)
    nonisolated let trace: TransitionTrace
    nonisolated let retirement = Retirement()
    nonisolated private let events: EventHub

    /// - Parameter patience: How long a source waits for room at most, where it does.
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
        let lane = Lane("\(id)")
        self.lane = lane
        let reach = Reach()
        feed = SinkFeed(
            options, isOffline: isOffline, patience: patience, on: lane.queue, clock: clock
        ) { item in
            guard let seat = reach.seat else { return .notStarted }
            return seat.assumeIsolated { $0.render(item) }
        }
        self.sink = sink
        reach.seat = self
    }

    private final class Reach: @unchecked Sendable {  // set once, before the first item is posted
        weak var seat: SinkSeat?
    }

    nonisolated var name: String { "\(id)" }

    /// What the sink said to the query; `nil` before it.
    nonisolated var pixelFormat: VideoPixelFormat? { wanted.withLock { $0 } }

    func make(_ call: Transition.Call) throws(EngineError) {
        switch call {
        case .query: query()
        case .initialize: try initialize()
        case .start: try start()
        case .stop: try stop()
        case .dispose: try dispose()
        }
    }

    nonisolated func shut() { feed.close() }

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

    private func initialize() throws(EngineError) {
        guard stage == .fresh, !isGivenUp else { return }
        query()
        var reason: (any Error)?
        do {
            guard try !sink.shouldInitialize() else {
                trace.note(name, .initialize, .succeeded)
                stage = .initialized
                return
            }
            trace.note(name, .initialize, .refused)
        } catch {
            trace.note(name, .initialize, .threw)
            reason = error
        }
        throw EngineError(
            .rendererNotInitialized, call: "shouldInitialize",
            message: reason == nil
                ? "\(typeName) said no to shouldInitialize"
                : "\(typeName) failed in shouldInitialize", underlying: reason)
    }

    private func start() throws(EngineError) {
        guard stage == .initialized, !isGivenUp else { return }
        do {
            try sink.shouldStart()
        } catch {
            trace.note(name, .start, .threw)
            throw EngineError(
                .rendererNotStarted, call: "shouldStart",
                message: "\(typeName) failed in shouldStart", underlying: error)
        }
        trace.note(name, .start, .succeeded)
        stage = .started
        failures = 0
        // Where it was given up meanwhile, what puts it away follows, and closes it again.
        feed.open()
    }

    /// Stops, behind what waited when ``SinkFeed/close()`` was called.
    ///
    /// - Throws: What the sink said; it counts as stopped all the same.
    private func stop() throws(EngineError) {
        feed.close()
        guard stage == .started else { return }
        stage = .initialized
        feed.freezes.pause()
        do {
            try sink.shouldStop()
            trace.note(name, .stop, .succeeded)
        } catch {
            trace.note(name, .stop, .threw)
            throw failure(of: "shouldStop", error)
        }
    }

    /// - Throws: What the sink said; it counts as disposed of all the same.
    private func dispose() throws(EngineError) {
        guard stage == .initialized else { return }
        stage = .fresh
        do {
            try sink.shouldDispose()
            trace.note(name, .dispose, .succeeded)
        } catch {
            trace.note(name, .dispose, .threw)
            throw failure(of: "shouldDispose", error)
        }
    }

    private func render(_ item: SinkFeed.Item) -> FrameDisposition {
        guard stage == .started else { return .notStarted }
        do {
            let frame = try item.conversion?.frame() ?? item.frame
            try sink.render(frame)
            failures = 0
            return .accepted
        } catch {
            failures += 1
            // The first of a row is told; a thousand of them are counted.
            if failures == 1 {
                events.post(.rendererFailed(id, failure(of: "render", error)))
            }
            return .dropped(.failed)
        }
    }

    private func failure(of call: String, _ error: any Error) -> EngineError {
        EngineError(
            .rendererFailed, call: call, message: "\(typeName) failed in \(call)",
            underlying: error)
    }

    /// Runs `body` with the sink, where it lives.
    func perform<R: Sendable>(_ body: @Sendable (any VideoSink) throws -> R) rethrows -> R {
        try body(sink)
    }
}
