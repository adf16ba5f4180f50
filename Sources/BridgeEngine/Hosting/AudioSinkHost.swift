internal import MediaCore
internal import Synchronization

/// Owns one audio sink and calls it on an executor of its own.
actor AudioSinkHost: ObjectHost {
    nonisolated let executor: SerialQueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let sink: any AudioSink
    private var lifecycle: LifecycleState
    private var failures = 0
    private var wanted: AudioConversion?
    private let converter: any AudioConverter
    nonisolated let id: AudioSinkID
    nonisolated let identity: ObjectIdentifier
    nonisolated let typeName: String
    nonisolated let feed: AudioSinkFeed
    private let account: SinkAccount?
    nonisolated let trace: TransitionTrace
    nonisolated let retirement = Retirement()
    nonisolated private let events: EventHub

    /// - Parameters:
    ///   - converter: The converter for this sink only.
    ///   - patience: The maximum time that a source waits for room in the queue if no frame may be
    ///     lost.
    init(
        _ sink: sending any AudioSink, id: AudioSinkID, converter: any AudioConverter,
        clock: EngineClock, patience: Duration, trace: TransitionTrace, events: EventHub
    ) {
        self.id = id
        self.converter = converter
        identity = ObjectIdentifier(sink)
        typeName = String(describing: type(of: sink))
        self.trace = trace
        self.events = events
        let executor = SerialQueueExecutor("\(id)")
        self.executor = executor
        let reach = Reach()
        account = (sink as? any FrameBalanceReporting).map { SinkAccount($0, .audio) }
        feed = AudioSinkFeed(
            isOffline: clock.isOffline, patience: patience, on: executor.queue,
            clock: clock.clockTime, account: account
        ) { frame in
            guard let host = reach.host else { return .notStarted }
            return host.assumeIsolated { $0.render(frame) }
        }
        lifecycle = LifecycleState(
            name: "\(id)", typeName: typeName, trace: trace, codes: .renderer)
        self.sink = sink
        reach.host = self
    }

    private final class Reach: @unchecked Sendable {  // set once, before the first frame is posted
        weak var host: AudioSinkHost?
    }

    nonisolated var name: String { "\(id)" }

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
            defer { account?.end() }
            try lifecycle.stop(sink.shouldStop)
        case .dispose: try lifecycle.dispose(sink.shouldDispose)
        }
    }

    nonisolated func shut() { feed.abandon() }

    nonisolated func failureEvent(_ error: EngineError) -> EngineEvent {
        .audioSinkFailed(id, error)
    }

    private func query() {
        guard wanted == nil else { return }
        wanted = sink.audioFormat()
        trace.note(name, .query, .succeeded)
    }

    private func render(_ frame: AudioFrame) -> FrameDisposition {
        guard lifecycle.stage == .started else { return .notStarted }
        do {
            let made: AudioFrame?
            if let wanted, wanted.changes(frame.format) {
                made = try converter.convert(frame, to: wanted)
            } else {
                made = frame
            }
            if let made { try sink.render(made) }
            failures = 0
            return .accepted
        } catch {
            failures += 1
            // Only the first failure in a row is reported; all are counted.
            if failures == 1 {
                events.post(.audioSinkFailed(id, lifecycle.failure(of: "render", error)))
            }
            return .dropped(.failed)
        }
    }

    /// Runs `body` with the sink, on the host's executor.
    func perform<R: Sendable>(_ body: @Sendable (any AudioSink) throws -> R) rethrows -> R {
        try body(sink)
    }
}
