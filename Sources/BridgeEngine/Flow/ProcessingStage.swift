internal import Dispatch
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
        let mailbox: Mailbox<VideoFrame>
        init(_ mailbox: Mailbox<VideoFrame>) { self.mailbox = mailbox }
    }
    private struct State {
        var line: Line?
        /// Failures in a row, for each processor; `nil` for one that is passed over.
        var failures: [Int?]
    }
    private struct Busy {
        var since: MediaTime
        var place: Int
    }
    private let state: Mutex<State>
    private let busy = Mutex<Busy?>(nil)
    private let isSlowReported = Atomic<Bool>(false)
    private let processors: [any VideoProcessor]
    private let point: ProcessingPoint
    private let isOffline: Bool
    private let clock: @Sendable () -> MediaTime
    private let next: any VideoFrameConsumer
    private let events: EventHub
    let drops = DropMeter()
    private static let depth = 4
    private static let patience = Duration.seconds(5)

    init(
        _ processors: [any VideoProcessor], at point: ProcessingPoint, isOffline: Bool,
        clock: @escaping @Sendable () -> MediaTime, events: EventHub,
        to next: any VideoFrameConsumer
    ) {
        self.processors = processors
        self.point = point
        self.isOffline = isOffline
        self.clock = clock
        self.next = next
        self.events = events
        state = Mutex(State(failures: processors.map { _ in 0 }))
        renew()
    }

    @discardableResult
    func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
        guard let line = state.withLock({ $0.line }) else { return .notStarted }
        let full: Mailbox<VideoFrame>.WhenFull =
            isOffline ? .wait(atMost: Self.patience) : .evictOldest
        switch line.mailbox.post(frame, whenFull: full) {
        case .taken: return .accepted
        case .takenForOldest:
            drops.note(.evicted)
            return .accepted
        case .full:
            drops.note(.queueFull)
            return .queueFull
        case .closed: return .notStarted
        }
    }

    /// Ends it; what waits is forgotten.
    func close() {
        let line = state.withLock { state in
            defer { state.line = nil }
            return state.line
        }
        line?.mailbox.abandon()
    }

    /// A new line of work; the old one's frames go nowhere any more.
    private func renew() {
        let queue = DispatchQueue(label: "mediabridge.\(point.rawValue)")
        let box = Box()
        let line = Line(
            Mailbox(depth: Self.depth, on: queue) { [weak self] frame in
                guard let self, let line = box.line else { return }
                self.work(frame, on: line)
            })
        box.line = line
        let old = state.withLock { state in
            defer { state.line = line }
            return state.line
        }
        old?.mailbox.abandon()
    }

    private final class Box: @unchecked Sendable {  // set once, before the first frame is posted
        weak var line: Line?
    }

    private func isCurrent(_ line: Line) -> Bool { state.withLock { $0.line === line } }

    private func work(_ frame: VideoFrame, on line: Line) {
        // Handed on, not kept: a processor that writes in place finds itself the only owner.
        var current: VideoFrame? = frame
        for place in processors.indices where state.withLock({ $0.failures[place] != nil }) {
            guard let taken = current.take() else { break }
            busy.withLock { $0 = Busy(since: clock(), place: place) }
            let result = Result { try processors[place].process(taken) }
            guard isCurrent(line) else { return }
            busy.withLock { $0 = nil }
            switch result {
            case .success(let frame):
                state.withLock { $0.failures[place] = 0 }
                current = frame
            case .failure(let error): failed(place, error)
            }
        }
        guard let frame = current.take() else {
            drops.note(.processor)
            return
        }
        next.consume(frame)
    }

    private func failed(_ place: Int, _ error: any Error) {
        let count = state.withLock { state -> Int in
            let count = (state.failures[place] ?? 0) + 1
            state.failures[place] = count >= 3 ? nil : count
            return count
        }
        guard count == 1 || count == 3 else { return }
        let name = "\(type(of: processors[place]))"
        events.post(
            .processorFailed(
                point,
                EngineError(
                    .processorFailed, call: "process",
                    message: count == 1
                        ? "\(name) failed; its frame is dropped"
                        : "\(name) failed three times in a row and is passed over from here on",
                    underlying: error)))
    }

    /// Looks whether a processor hangs, and leaves it behind then.
    func check(now: MediaTime, limit: MediaTime) {
        guard let busy = busy.withLock({ $0 }), now - busy.since > limit else { return }
        state.withLock { $0.failures[busy.place] = nil }
        self.busy.withLock { $0 = nil }
        renew()
        events.post(
            .processorFailed(
                point,
                EngineError(
                    .stuck, call: "process",
                    message: "\(type(of: processors[busy.place])) hangs in one frame for more than "
                        + "\(limit.seconds) s and is passed over from here on")))
    }
}
