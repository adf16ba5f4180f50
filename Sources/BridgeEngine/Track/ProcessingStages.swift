internal import Dispatch
internal import MediaBasics
internal import MediaCore
internal import Synchronization

/// The processors of one track at their three points. The result of capture processors goes to all
/// receivers, that of the others only to the local video sinks or only to the channel.
///
/// Thread: any, one frame at a time.
final class ProcessingStages: VideoFrameConsumer {
    private let stages = Mutex(ByPoint<ProcessingStage?>(nil))
    private let track: MediaTrackID
    private let clock: EngineClock
    private let events: EventHub<EngineEvent>
    private let queueTimeout: Duration
    private let local: VideoStream
    private let outgoing: VideoStream
    /// Counts the frames at each point, whether or not it has processors.
    private let meters = ByPoint(FlowMeter<VideoMedia>())

    /// - Parameter queueTimeout: How long a frame waits for a slow processor if none may be lost.
    init(
        of track: MediaTrackID, clock: EngineClock, events: EventHub<EngineEvent>,
        queueTimeout: Duration,
        local: VideoStream, outgoing: VideoStream
    ) {
        self.track = track
        self.clock = clock
        self.events = events
        self.queueTimeout = queueTimeout
        self.local = local
        self.outgoing = outgoing
    }

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
            guard let self else { return .dropped(.notStarted) }
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
        stages.exchange(ByPoint(nil)).all.forEach { $0?.close() }
    }
}

/// One value for each processing point: a dictionary would hash for every frame.
struct ByPoint<Value: Sendable>: Sendable {
    /// The values, in the order in which frames pass their points.
    private(set) var all: [Value]

    /// - Parameter value: Evaluated for each point.
    init(_ value: @autoclosure () -> Value) {
        all = ProcessingPoint.allCases.map { _ in value() }
    }

    subscript(point: ProcessingPoint) -> Value {
        get { all[point.place] }
        set { all[point.place] = newValue }
    }
}

extension ProcessingPoint {
    /// The place in ``allCases``.
    fileprivate var place: Int {
        switch self {
        case .capture: 0
        case .encode: 1
        case .render: 2
        }
    }
}

// MARK: One point

/// A chain of processors on a dedicated thread: a slow processor does not delay the source, and a
/// processor that hangs is abandoned together with its thread.
///
/// A processor that throws drops that frame; one that throws three times in a row, or hangs, is
/// skipped from then on. Thread: any, one frame at a time.
final class ProcessingStage: VideoFrameConsumer {
    /// A thread with its queue that runs the chain; it is replaced if a processor hangs.
    private final class Line: Sendable {
        let queue: SerialQueue
        let mailbox: Mailbox<VideoFrame>
        init(_ queue: SerialQueue, _ mailbox: Mailbox<VideoFrame>) {
            self.queue = queue
            self.mailbox = mailbox
        }
    }
    /// The processors of one call of `set`, and their state.
    private struct Chain {
        var processors: [Hosted] = []
        /// The number of consecutive failures of each processor; `nil` for one that is skipped.
        var failures: [Int?] = []
        var number = 0
    }
    private struct State {
        var line: Line?
        var chain = Chain()
        var busy: Busy?
    }
    /// The processor that currently has a frame, and since when.
    private struct Busy {
        let chain: Int
        let place: Int
        let name: String
        let since: MediaTime
    }
    /// A processor that the program has handed over.
    ///
    /// Unchecked: only the stage has it, and the stage calls it on one line at a time. A line that
    /// was abandoned in a processor calls no other processor, and the following lines skip that
    /// one.
    private struct Hosted: @unchecked Sendable {
        let processor: any VideoProcessor
        var name: String { "\(type(of: processor))" }
    }
    private let state = Mutex(State())
    private let point: ProcessingPoint
    private let clock: EngineClock
    private let queueTimeout: Duration
    private let next: @Sendable (VideoFrame) -> FrameDisposition
    private let onFailure: @Sendable (EngineError) -> Void
    private let meter: FlowMeter<VideoMedia>
    private static let depth = 4
    private static let lastChance = 3

    /// - Parameters:
    ///   - queueTimeout: How long a frame waits for room in the queue if none may be lost.
    ///   - meter: Counts the frames.
    ///   - onFailure: Called when a processor threw or hangs. Runs on any thread.
    ///   - next: Receives the frames that were not dropped, on the stage's own thread.
    init(
        at point: ProcessingPoint, clock: EngineClock, queueTimeout: Duration,
        counting meter: FlowMeter<VideoMedia>,
        onFailure: @escaping @Sendable (EngineError) -> Void,
        to next: @escaping @Sendable (VideoFrame) -> FrameDisposition
    ) {
        self.point = point
        self.clock = clock
        self.queueTimeout = queueTimeout
        self.onFailure = onFailure
        self.meter = meter
        self.next = next
        let line = makeLine()
        state.withLock { $0.line = line }
    }

    /// Replaces the processors, from the next frame on. With an empty array, frames pass unchanged.
    func set(_ processors: sending [any VideoProcessor]) {
        let processors = processors.map { Hosted(processor: $0) }
        // The previous processors are released outside the lock.
        _ = state.withLock { state in
            defer {
                state.chain = Chain(
                    processors: processors, failures: processors.map { _ in 0 },
                    number: state.chain.number + 1)
            }
            return state.chain
        }
    }

    /// Whether the stage has no processors.
    var isEmpty: Bool { state.withLock { $0.chain.processors.isEmpty } }

    @discardableResult
    func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
        meter.offered.note(frame)
        return post(frame)
    }

    private func post(_ frame: VideoFrame) -> FrameDisposition {
        guard let line = state.withLock({ $0.line }) else { return meter.drops.refuse(.notStarted) }
        let full: Mailbox<VideoFrame>.WhenFull =
            clock.isOffline ? .wait(atMost: queueTimeout) : .evictOldest
        switch line.mailbox.post(frame, whenFull: full) {
        case .taken: return .accepted
        case .acceptedByEvictingOldest:
            meter.drops.note(.evicted)
            return .accepted
        case .full: return meter.drops.refuse(.queueFull)
        case .closed:
            // The line was closed; if another has replaced it, the frame goes to that one.
            return state.withLock { $0.line } === line
                ? meter.drops.refuse(.notStarted) : post(frame)
        }
    }

    // MARK: Lines

    private func makeLine() -> Line {
        let queue = SerialQueue(label: "mediabridge.\(point)")
        let reference = SelfReference<Line>()
        let mailbox = Mailbox<VideoFrame>(depth: Self.depth, on: queue, of: clock.timeline) {
            [weak self, meter] (frame: consuming VideoFrame) in
            guard let self, let line = reference.object else {
                return meter.drops.note(.notStarted)
            }
            work(frame, on: line)
        }
        let line = Line(queue, mailbox)
        reference.object = line
        return line
    }

    func setMayBlock(_ mayBlock: Bool) {
        state.withLock { $0.line }?.mailbox.setMayBlock(mayBlock)
    }

    /// Returns when the queued frames have been processed, or after `limit`.
    func drained(within limit: Duration) async {
        await state.withLock { $0.line }?.queue.outcome(within: limit, on: clock.timeline) {}
    }

    /// Closes the stage; queued frames are dropped.
    func close() {
        let line = state.withLock { state in
            defer { state.line = nil }
            return state.line
        }
        abandon(line, .notStarted)
    }

    private func abandon(_ line: Line?, _ cause: DropCause) {
        let lost = line?.mailbox.abandon() ?? 0
        if lost > 0 { meter.drops.note(cause, lost) }
    }

    // MARK: Work

    private func work(_ frame: consuming VideoFrame, on line: Line) {
        let chain = state.withLock { $0.chain }
        // Each step moves the frame: a second reference would make a processor copy its picture.
        var current: VideoFrame? = consume frame
        for place in chain.processors.indices {
            guard begin(place, of: chain, on: line) else { continue }
            guard let taken = current.take() else { break }
            let result: Result<VideoFrame?, any Error>
            do {
                result = .success(try chain.processors[place].processor.process(consume taken))
            } catch {
                result = .failure(error)
            }
            guard end(on: line) else {
                // The line was abandoned meanwhile.
                meter.drops.note(.processor)
                return
            }
            note(result, place, of: chain)
            current = try? result.get()
        }
        guard let frame = current.take() else {
            meter.drops.note(.processor)
            return
        }
        meter.delivered.note()
        _ = next(frame)
    }

    /// - Returns: False for a processor that is skipped.
    private func begin(_ place: Int, of chain: Chain, on line: Line) -> Bool {
        let now = clock.clockTime()
        return state.withLock { state in
            guard state.line === line else { return true }
            if state.chain.number == chain.number, state.chain.failures[place] == nil {
                return false
            }
            state.busy = Busy(
                chain: chain.number, place: place, name: chain.processors[place].name, since: now)
            return true
        }
    }

    /// - Returns: False if the frame's line was abandoned. Only a busy line is abandoned, so frames
    ///   that it passes on cannot arrive between the frames of the next line.
    private func end(on line: Line) -> Bool {
        state.withLock { state in
            guard state.line === line else { return false }
            state.busy = nil
            return true
        }
    }

    private func note(
        _ result: Result<VideoFrame?, any Error>, _ place: Int, of chain: Chain
    ) {
        let count = state.withLock { state -> Int in
            guard state.chain.number == chain.number else { return 0 }
            guard case .failure = result else {
                state.chain.failures[place] = 0
                return 0
            }
            let count = (state.chain.failures[place] ?? 0) + 1
            state.chain.failures[place] = count >= Self.lastChance ? nil : count
            return count
        }
        guard case .failure(let error) = result, count == 1 || count == Self.lastChance else {
            return
        }
        let name = chain.processors[place].name
        report(
            .processorFailed,
            count == 1
                ? "\(name) failed; its frame is dropped"
                : "\(name) failed three times in a row and is now skipped", error)
    }

    /// Checks whether a processor hangs, and if so replaces the line and skips that processor.
    func check(now: MediaTime, limit: MediaTime) {
        let isBusy = state.withLock { $0.busy.map { now - $0.since > limit } ?? false }
        guard isBusy else { return }
        let fresh = makeLine()
        let left = state.withLock { state -> (Line?, Busy)? in
            guard let busy = state.busy, now - busy.since > limit, state.line != nil else {
                return nil
            }
            if busy.chain == state.chain.number { state.chain.failures[busy.place] = nil }
            state.busy = nil
            defer { state.line = fresh }
            return (state.line, busy)
        }
        guard let (line, busy) = left else { return }
        abandon(line, .processor)
        report(
            .stuck,
            "\(busy.name) has not returned from one frame for more than \(limit.seconds) s and is "
                + "now skipped")
    }

    private func report(
        _ code: EngineError.Code, _ message: String, _ underlying: (any Error)? = nil
    ) {
        onFailure(EngineError(code, call: "process", message: message, underlying: underlying))
    }
}
