internal import MediaCore
internal import Synchronization

/// Where one sink of sound lives.
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
    ///   - converter: Of this sink alone.
    ///   - patience: How long a source waits for room at most, where nothing may be lost.
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
            // Where it was given up meanwhile, what puts it away follows, and closes it again.
            feed.open()
        case .stop:
            // Behind what waited when the feed was closed.
            feed.close()
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
            // The first of a row is told; a thousand of them are counted.
            if failures == 1 {
                events.post(.audioSinkFailed(id, lifecycle.failure(of: "render", error)))
            }
            return .dropped(.failed)
        }
    }

    /// Runs `body` with the sink, where it lives.
    func perform<R: Sendable>(_ body: @Sendable (any AudioSink) throws -> R) rethrows -> R {
        try body(sink)
    }
}
