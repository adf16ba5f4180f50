internal import MediaCore
internal import Synchronization

/// Where one sink of sound lives.
actor AudioSinkSeat: Seat {
    nonisolated let lane: Lane
    nonisolated var unownedExecutor: UnownedSerialExecutor { lane.asUnownedSerialExecutor() }

    private let sink: any AudioSink
    private var stages: SeatStages
    private var failures = 0
    private var wanted: AudioConversion?
    private let converter: any AudioConverter
    nonisolated let id: AudioSinkID
    nonisolated let identity: ObjectIdentifier
    nonisolated let typeName: String
    nonisolated let feed: AudioFeed
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
        let lane = Lane("\(id)")
        self.lane = lane
        let reach = Reach()
        account = (sink as? any FrameBalanceReporting).map { SinkAccount($0, .audio) }
        feed = AudioFeed(
            isOffline: clock.isOffline, patience: patience, on: lane.queue,
            clock: clock.clockTime, account: account
        ) { frame in
            guard let seat = reach.seat else { return .notStarted }
            return seat.assumeIsolated { $0.render(frame) }
        }
        stages = SeatStages(name: "\(id)", typeName: typeName, trace: trace, codes: .renderer)
        self.sink = sink
        reach.seat = self
    }

    private final class Reach: @unchecked Sendable {  // set once, before the first frame is posted
        weak var seat: AudioSinkSeat?
    }

    nonisolated var name: String { "\(id)" }

    func make(_ call: Transition.Call) throws(EngineError) {
        switch call {
        case .query: query()
        case .initialize:
            guard stages.stage == .fresh, !isGivenUp else { return }
            query()
            try stages.initialize(sink.shouldInitialize)
        case .start:
            guard stages.stage == .initialized, !isGivenUp else { return }
            try stages.start(sink.shouldStart)
            failures = 0
            account?.begin()
            // Where it was given up meanwhile, what puts it away follows, and closes it again.
            feed.open()
        case .stop:
            // Behind what waited when the feed was closed.
            feed.close()
            defer { account?.end() }
            try stages.stop(sink.shouldStop)
        case .dispose: try stages.dispose(sink.shouldDispose)
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
        guard stages.stage == .started else { return .notStarted }
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
                events.post(.audioSinkFailed(id, stages.failure(of: "render", error)))
            }
            return .dropped(.failed)
        }
    }

    /// Runs `body` with the sink, where it lives.
    func perform<R: Sendable>(_ body: @Sendable (any AudioSink) throws -> R) rethrows -> R {
        try body(sink)
    }
}
