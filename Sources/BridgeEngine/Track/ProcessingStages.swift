internal import Dispatch
internal import MediaCore
internal import Synchronization

/// The processors of one track at their three points. The result of capture processors goes to all
/// receivers, that of the others only to the local renderers or only to the channel.
///
/// Thread: any, one frame at a time.
final class ProcessingStages: VideoFrameConsumer {
    private let stages = Mutex(ByPoint<ProcessingStage?>(nil))
    private let track: TrackID
    private let clock: EngineClock
    private let events: EventHub
    private let queueTimeout: Duration
    private let local: VideoStream
    private let outgoing: VideoStream
    /// Counts the frames at each point, whether or not it has processors.
    private let meters = ByPoint(FlowMeter<VideoMedia>())

    /// - Parameter queueTimeout: How long a frame waits for a slow processor if none may be lost.
    init(
        of track: TrackID, clock: EngineClock, events: EventHub, queueTimeout: Duration,
        local: VideoStream, outgoing: VideoStream
    ) {
        self.track = track
        self.clock = clock
        self.events = events
        self.queueTimeout = queueTimeout
        self.local = local
        self.outgoing = outgoing
    }

    /// Counts dropped frames over all points.
    var drops: DropCounts { meters.all.map(\.drops.all).reduce(DropCounts(), +) }

    /// The counts of each point.
    var balances: [ProcessingPoint: FrameBalance] {
        .init(
            uniqueKeysWithValues: ProcessingPoint.allCases.map { ($0, meters[$0].balance) })
    }

    /// Whether any point has processors.
    var hasProcessors: Bool { all.contains { !$0.isEmpty } }

    /// Returns whether no processor changes pictures on the way to the receivers behind this point.
    func passesUnits(to point: ProcessingPoint) -> Bool {
        let stages = self.stages.withLock { $0 }
        return stages[.capture]?.isEmpty != false && stages[point]?.isEmpty != false
    }

    /// Replaces the processors of one point. A stage that exists is kept even without processors,
    /// so that frames keep their order and none is lost.
    func set(_ processors: sending [any VideoProcessor], at point: ProcessingPoint) {
        if let stage = stages.withLock({ $0[point] }) { return stage.set(processors) }
        guard !processors.isEmpty else { return }
        let stage = ProcessingStage(
            at: point, clock: clock, queueTimeout: queueTimeout, counting: meters[point],
            onFailure: { [events, track] in events.post(.processorFailed(track, point, $0)) }
        ) { [weak self] frame in
            guard let self else { return .notStarted }
            return point == .capture ? distribute(frame) : target(of: point).offer(frame)
        }
        stage.set(processors)
        stages.withLock { $0[point] = stage }
    }

    @discardableResult
    func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
        if let stage = stages.withLock({ $0[.capture] }) { return stage.consume(frame) }
        meters[.capture].pass(frame)
        return distribute(frame)
    }

    private func distribute(_ frame: borrowing VideoFrame) -> FrameDisposition {
        let stages = self.stages.withLock { $0 }
        for point in [ProcessingPoint.render, .encode] {
            if let stage = stages[point] {
                stage.consume(copy frame)
            } else {
                meters[point].pass(frame)
                target(of: point).offer(frame)
            }
        }
        return .accepted
    }

    private func target(of point: ProcessingPoint) -> VideoStream {
        point == .encode ? outgoing : local
    }

    // MARK: Monitoring

    private var all: [ProcessingStage] { stages.withLock { $0 }.all.compactMap { $0 } }

    /// Checks for processors that hang.
    func check(now: MediaTime, limit: MediaTime) {
        for stage in all { stage.check(now: now, limit: limit) }
    }

    /// Sets whether a source may be blocked by slow processors.
    func setMayBlock(_ mayBlock: Bool) { all.forEach { $0.setMayBlock(mayBlock) } }

    /// Returns when the queued frames have been processed, or after `limit`.
    func drained(within limit: Duration) async {
        for stage in all { await stage.drained(within: limit) }
    }

    func close() {
        let stages = self.stages.withLock { stages in
            defer { stages = ByPoint(nil) }
            return stages
        }
        stages.all.forEach { $0?.close() }
    }
}

/// One value for each processing point: a dictionary would hash for every frame.
struct ByPoint<Value: Sendable>: Sendable {
    private var (capture, encode, render): (Value, Value, Value)

    /// - Parameter value: Evaluated for each point.
    init(_ value: @autoclosure () -> Value) {
        (capture, encode, render) = (value(), value(), value())
    }

    subscript(point: ProcessingPoint) -> Value {
        get {
            switch point {
            case .capture: capture
            case .encode: encode
            case .render: render
            }
        }
        set {
            switch point {
            case .capture: capture = newValue
            case .encode: encode = newValue
            case .render: render = newValue
            }
        }
    }

    /// The values, in the order in which frames pass their points.
    var all: [Value] { ProcessingPoint.allCases.map { self[$0] } }
}
