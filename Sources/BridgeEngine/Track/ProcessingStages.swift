internal import Dispatch
internal import MediaCore
internal import Synchronization

/// The processors of one track at their three points. The result of capture processors goes to all
/// receivers, that of the others only to the local renderers or only to the channel.
///
/// Thread: any, one frame at a time.
final class ProcessingStages: VideoFrameConsumer {
    private let stages = Mutex<[ProcessingPoint: ProcessingStage]>([:])
    private let track: TrackID
    private let clock: EngineClock
    private let events: EventHub
    private let queueTimeout: Duration
    private let local: VideoStream
    private let outgoing: VideoStream
    /// Counts the frames at each point, whether or not it has processors.
    let meters: [ProcessingPoint: FlowMeter<VideoMedia>]

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
        meters = .init(
            uniqueKeysWithValues: ProcessingPoint.allCases.map { ($0, FlowMeter<VideoMedia>()) })
    }

    /// Counts dropped frames over all points.
    var drops: DropCounts { meters.values.map(\.drops.all).reduce(DropCounts(), +) }

    /// Replaces the processors of one point. A stage that exists is kept even without processors,
    /// so that frames keep their order and none is lost.
    func set(_ processors: sending [any VideoProcessor], at point: ProcessingPoint) {
        if let stage = stages.withLock({ $0[point] }) { return stage.set(processors) }
        guard !processors.isEmpty else { return }
        let stage = ProcessingStage(
            at: point, clock: clock, queueTimeout: queueTimeout, counting: meter(of: point),
            onFailure: { [events, track] in events.post(.processorFailed(track, point, $0)) }
        ) { [weak self] frame in
            guard let self else { return .notStarted }
            return point == .capture ? distribute(frame) : target(of: point).consume(frame)
        }
        stage.set(processors)
        stages.withLock { $0[point] = stage }
    }

    @discardableResult
    func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
        if let stage = stages.withLock({ $0[.capture] }) { return stage.consume(frame) }
        meter(of: .capture).pass(frame)
        return distribute(frame)
    }

    private func distribute(_ frame: VideoFrame) -> FrameDisposition {
        let stages = self.stages.withLock { $0 }
        for point in [ProcessingPoint.render, .encode] {
            if let stage = stages[point] {
                stage.consume(frame)
            } else {
                meter(of: point).pass(frame)
                target(of: point).consume(frame)
            }
        }
        return .accepted
    }

    private func meter(of point: ProcessingPoint) -> FlowMeter<VideoMedia> {
        meters[point] ?? FlowMeter<VideoMedia>()
    }

    private func target(of point: ProcessingPoint) -> VideoStream {
        point == .encode ? outgoing : local
    }

    // MARK: Monitoring

    private var all: [ProcessingStage] {
        // In the order in which frames pass them.
        let stages = self.stages.withLock { $0 }
        return ProcessingPoint.allCases.compactMap { stages[$0] }
    }

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
            defer { stages = [:] }
            return stages
        }
        stages.values.forEach { $0.close() }
    }
}
