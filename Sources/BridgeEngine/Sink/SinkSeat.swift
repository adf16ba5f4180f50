internal import MediaCore
internal import Synchronization

/// Where one renderer lives: the only place that calls it, one call at a time, on a lane of its own.
actor SinkSeat {
    private enum Stage {
        case fresh, initialized, started
    }
    nonisolated private let lane: Lane
    nonisolated var unownedExecutor: UnownedSerialExecutor { lane.asUnownedSerialExecutor() }

    private let sink: any VideoSink
    private var stage = Stage.fresh {
        didSet { started.store(stage == .started, ordering: .relaxed) }
    }
    nonisolated private let started = Atomic<Bool>(false)
    /// Whether it takes frames.
    nonisolated var isStarted: Bool { started.load(ordering: .relaxed) }
    /// Given up on: whatever call is under way, the renderer is put away when it returns.
    private var isRetired: Bool { isGivenUp }
    private var failures = 0
    nonisolated let id: RendererID
    nonisolated let identity: ObjectIdentifier
    nonisolated let typeName: String
    nonisolated let options: RendererOptions
    nonisolated let feed: SinkFeed
    nonisolated private let wanted = Mutex<VideoPixelFormat?>(nil)
    nonisolated private let trace: TransitionTrace
    nonisolated private let events: EventHub

    init(
        _ sink: sending any VideoSink, id: RendererID, options: RendererOptions, isOffline: Bool,
        clock: @escaping @Sendable () -> MediaTime, trace: TransitionTrace, events: EventHub
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
        feed = SinkFeed(options, isOffline: isOffline, on: lane.queue, clock: clock) { item in
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

    func initialize() throws(EngineError) {
        guard stage == .fresh else { return }
        if pixelFormat == nil {
            _ = sink.bufferType()
            let format = sink.pixelFormat()
            wanted.withLock { $0 = format }
            trace.note(name, .query, .succeeded)
        }
        do {
            guard try sink.shouldInitialize() else {
                trace.note(name, .initialize, .refused)
                throw EngineError(
                    .rendererNotInitialized, call: "shouldInitialize",
                    message: "\(typeName) said no to shouldInitialize")
            }
        } catch let error as EngineError {
            throw error
        } catch {
            trace.note(name, .initialize, .threw)
            throw EngineError(
                .rendererNotInitialized, call: "shouldInitialize",
                message: "\(typeName) failed in shouldInitialize", underlying: error)
        }
        trace.note(name, .initialize, .succeeded)
        stage = .initialized
        if isRetired { putAway() }
    }

    func start() throws(EngineError) {
        guard stage == .initialized, !isRetired else { return }
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
        feed.open()
        if isRetired { putAway() }
    }

    /// Stops, behind what waited when ``SinkFeed/close()`` was called.
    ///
    /// - Throws: What the sink said; it counts as stopped all the same.
    func stop() throws(EngineError) {
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
    func dispose() throws(EngineError) {
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

    /// Gives the renderer up, as ``SourceSeat/retire()`` does a source.
    nonisolated func retire() {
        givenUp.store(true, ordering: .relaxed)
        feed.close()
        Task { await putAway() }
    }

    nonisolated private let givenUp = Atomic<Bool>(false)
    /// Whether ``retire()`` was called.
    nonisolated var isGivenUp: Bool { givenUp.load(ordering: .relaxed) }

    private func putAway() {
        // Nobody is left to tell.
        try? stop()
        try? dispose()
    }

    nonisolated func noteStuck(_ call: Transition.Call) { trace.note(name, call, .stuck) }

    /// Runs `body` with the sink, where it lives.
    func perform<R: Sendable>(_ body: @Sendable (any VideoSink) throws -> R) rethrows -> R {
        try body(sink)
    }
}
