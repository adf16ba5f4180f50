internal import MediaBasics
internal import MediaCore
internal import Synchronization

/// A chain of processors with a thread of its own, so that what is slow in it delays nobody before it,
/// and what hangs in it is left behind.
///
/// A processor that throws drops that frame; one that throws three times in a row, or hangs, is passed
/// over from then on. Thread: any, one frame at a time.
final class ProcessingStage: VideoFrameConsumer {
    /// One run of the chain; another begins when a processor hangs.
    private final class Line: Sendable {
        let queue: SerialQueue
        let mailbox: Mailbox<VideoFrame>
        init(_ queue: SerialQueue, _ mailbox: Mailbox<VideoFrame>) {
            self.queue = queue
            self.mailbox = mailbox
        }
    }
    /// The processors that were set at one time, and how they do.
    private struct Chain {
        var processors: [Hosted] = []
        /// Failures in a row, for each processor; `nil` for one that is passed over.
        var failures: [Int?] = []
        var number = 0
    }
    private struct State {
        var line: Line?
        var chain = Chain()
        var busy: Busy?
    }
    /// Which processor has a frame, and since when.
    private struct Busy {
        let chain: Int
        let place: Int
        let name: String
        let since: MediaTime
    }
    /// A processor that the program gave away.
    ///
    /// Unchecked: nobody but the stage has it, and the stage calls it on one line at a time. A line that is
    /// left behind in a processor calls no other, and the lines after it pass that one over.
    private struct Hosted: @unchecked Sendable {
        let processor: any VideoProcessor
        var name: String { "\(type(of: processor))" }
    }
    private let state = Mutex(State())
    private let point: ProcessingPoint
    private let clock: EngineClock
    private let patience: Duration
    private let next: @Sendable (VideoFrame) -> FrameDisposition
    private let events: EventHub
    private let meter: FlowMeter
    private static let depth = 4
    private static let lastChance = 3

    /// - Parameters:
    ///   - patience: How long a frame waits for room where none may be lost.
    ///   - meter: Counts the frames.
    ///   - next: Gets the others, on the stage's own thread.
    init(
        at point: ProcessingPoint, clock: EngineClock, patience: Duration, events: EventHub,
        counting meter: FlowMeter, to next: @escaping @Sendable (VideoFrame) -> FrameDisposition
    ) {
        self.point = point
        self.clock = clock
        self.patience = patience
        self.events = events
        self.meter = meter
        self.next = next
        let line = makeLine()
        state.withLock { $0.line = line }
    }

    /// Replaces the processors, from the next frame on. None: frames pass as they are.
    func set(_ processors: sending [any VideoProcessor]) {
        let processors = processors.map { Hosted(processor: $0) }
        // What was there is let go of outside of the lock.
        _ = state.withLock { state in
            defer {
                state.chain = Chain(
                    processors: processors, failures: processors.map { _ in 0 },
                    number: state.chain.number + 1)
            }
            return state.chain
        }
    }

    @discardableResult
    func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
        meter.offered.note(frame.format)
        return post(frame)
    }

    private func post(_ frame: VideoFrame) -> FrameDisposition {
        guard let line = state.withLock({ $0.line }) else { return refuse(.notStarted) }
        let full: Mailbox<VideoFrame>.WhenFull =
            clock.isOffline ? .wait(atMost: patience) : .evictOldest
        switch line.mailbox.post(frame, whenFull: full) {
        case .taken: return .accepted
        case .takenForOldest:
            meter.drops.note(.evicted)
            return .accepted
        case .full: return refuse(.queueFull)
        case .closed:
            // Another line has just begun.
            return state.withLock { $0.line } === line ? refuse(.notStarted) : post(frame)
        }
    }

    private func refuse(_ cause: DropCause) -> FrameDisposition {
        meter.drops.note(cause)
        return .dropped(cause)
    }

    // MARK: Lines

    private func makeLine() -> Line {
        let queue = SerialQueue(label: "mediabridge.\(point.rawValue)")
        let box = Box()
        let mailbox = Mailbox<VideoFrame>(depth: Self.depth, on: queue) {
            [weak self, meter] frame in
            guard let self, let line = box.line else { return meter.drops.note(.notStarted) }
            work(frame, on: line)
        }
        let line = Line(queue, mailbox)
        box.line = line
        return line
    }

    private final class Box: @unchecked Sendable {  // set once, before the first frame is posted
        weak var line: Line?
    }

    func setMayBlock(_ mayBlock: Bool) {
        state.withLock { $0.line }?.mailbox.setMayBlock(mayBlock)
    }

    /// Returns when what waited has gone on, or after `limit`.
    func drained(within limit: Duration) async {
        await state.withLock { $0.line }?.queue.outcome(within: limit) {}
    }

    /// Ends it; what waits is forgotten.
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

    private func work(_ frame: VideoFrame, on line: Line) {
        let chain = state.withLock { $0.chain }
        // Handed on, not kept: a processor that writes in place finds itself the only owner.
        var current: VideoFrame? = consume frame
        for place in chain.processors.indices {
            guard begin(place, of: chain, on: line) else { continue }
            guard let taken = current.take() else { break }
            let result = Result { try chain.processors[place].processor.process(taken) }
            guard end(on: line) else {
                // It was left behind meanwhile.
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
        meter.delivered.note(frame.format)
        _ = next(frame)
    }

    /// - Returns: False for a processor that is passed over.
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

    /// - Returns: False where the frame was left behind. A line is left only while it is busy, so what
    ///   it hands on cannot come between the frames of the next.
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
                : "\(name) failed three times in a row and is passed over from here on", error)
    }

    /// Looks whether a processor hangs, and leaves it behind then.
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
            "\(busy.name) hangs in one frame for more than \(limit.seconds) s and is "
                + "passed over from here on")
    }

    private func report(
        _ code: EngineError.Code, _ message: String, _ underlying: (any Error)? = nil
    ) {
        events.post(
            .processorFailed(
                point,
                EngineError(code, call: "process", message: message, underlying: underlying)))
    }
}
