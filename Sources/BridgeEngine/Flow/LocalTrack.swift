internal import Dispatch
internal import MediaCore
internal import Synchronization

/// One way of pictures through the engine: from whichever source it listens to, through the processors,
/// to the local renderers and to the channel.
///
/// Thread: any; frames go through one at a time.
final class LocalTrack: SourcePort.Receiver {
    let id: TrackID
    /// To local renderers.
    let local: VideoStream
    /// To the channel.
    let outgoing: VideoStream
    private let clock: EngineClock
    private let events: EventHub
    /// The source asked to end, failed, or delivered its first frame.
    private let onSource: @Sendable (LocalTrack, SourceNews) -> Void

    /// What the engine must act upon.
    enum SourceNews: Sendable {
        case firstFrame(SourcePort)
        case ended(SourcePort)
        case failed(SourcePort, any Error)
    }

    private struct State {
        var active: SourcePort?
        /// Runs already; takes over with its first frame.
        var warming: SourcePort?
        var timeline: SourceTimeline
        var stages: [ProcessingPoint: ProcessingStage] = [:]
        var head: (any VideoFrameConsumer)?
        var isFirst = true
        var isPaused = false
    }
    private let state: Mutex<State>
    /// Held while a frame is handed on, so that two sources' frames keep the order of their times.
    private let way = Mutex(())
    private let pacer = Pacer()
    let passed = FrameMeter()
    let fallbacks = FrameMeter()
    private let lastArrival = Atomic<Int64>(0)
    private let lastFrame = Mutex<VideoFrame?>(nil)
    private let keepsLast = Atomic<Bool>(false)

    init(
        _ id: TrackID, clock: EngineClock, backend: any MediaBackend, events: EventHub,
        onSource: @escaping @Sendable (LocalTrack, SourceNews) -> Void
    ) {
        self.id = id
        self.clock = clock
        self.events = events
        self.onSource = onSource
        local = VideoStream(backend)
        outgoing = VideoStream(backend)
        state = Mutex(State(timeline: SourceTimeline(isOffline: clock.isOffline)))
    }

    // MARK: Sources

    /// Listens to this source from here on, and to no other.
    func listen(to port: SourcePort?) {
        pacer.release()
        state.withLock { state in
            state.active = port
            state.warming = nil
            state.timeline.begin()
            state.isFirst = true
        }
        lastArrival.store(clock.now.nanoseconds, ordering: .relaxed)
    }

    /// Goes over to this source with its first frame.
    func expect(_ port: SourcePort) { state.withLock { $0.warming = port } }

    /// Does not go over after all.
    func forget(_ port: SourcePort) {
        state.withLock { if $0.warming === port { $0.warming = nil } }
    }

    func isListening(to port: SourcePort) -> Bool { state.withLock { $0.active === port } }

    /// Lets a frame that is held until its time go, so that its source can stop.
    func release() { pacer.release() }

    // MARK: SourcePort.Receiver

    func receive(_ frame: consuming VideoFrame, from port: SourcePort) -> FrameDisposition {
        let now = clock.now
        let frame = frame
        enum Step {
            case go(MediaTime, MediaTime?, waits: Bool, isNew: Bool)
            case refuse(DropCause)
        }
        let pacing = port.pacing
        let step = state.withLock { state -> Step in
            let isNew = state.warming === port
            guard isNew || state.active === port else { return .refuse(.notStarted) }
            if isNew {
                state.active = port
                state.warming = nil
                state.timeline.begin()
            }
            switch state.timeline.judge(frame, pacing, now: now, origin: clock.origin) {
            case .refused(let cause): return .refuse(cause)
            case .due(let due, let latency, let waits):
                return .go(due, latency, waits: waits, isNew: isNew)
            }
        }
        switch step {
        case .refuse(let cause): return .dropped(cause)
        case .go(let due, let latency, let waits, let isNew):
            if isNew { pacer.release() }
            if waits {
                let isDue = pacer.wait(until: due, on: clock) { [self] in
                    port.isAdmitting && isListening(to: port)
                }
                guard isDue else { return .notStarted }
            }
            if isNew { onSource(self, .firstFrame(port)) }
            return pass(frame, due: due, latency: latency, from: port)
        }
    }

    func ended(_ port: SourcePort) { onSource(self, .ended(port)) }

    func failed(_ port: SourcePort, _ error: any Error) { onSource(self, .failed(port, error)) }

    // MARK: The way

    private func pass(
        _ frame: consuming VideoFrame, due: MediaTime, latency: MediaTime?, from port: SourcePort?
    ) -> FrameDisposition {
        var frame = frame
        frame.runningTime = due
        frame.liveTiming = latency.map {
            LiveTiming(clockOrigin: clock.origin, latency: max($0, clock.latency))
        }
        lastArrival.store(clock.now.nanoseconds, ordering: .relaxed)
        if keepsLast.load(ordering: .relaxed) {
            let kept = frame
            lastFrame.withLock { $0 = kept }
        }
        return way.withLock { _ -> FrameDisposition in
            let (head, isFirst, isWanted) = state.withLock { state in
                defer { state.isFirst = false }
                return (state.head, state.isFirst, port == nil || state.active === port)
            }
            // It was overtaken by another source while it waited for its time.
            guard isWanted else { return .notStarted }
            passed.note(frame.format)
            if isFirst {
                events.post(
                    .firstLocalFrame(id, VideoSize(width: frame.width, height: frame.height)))
            }
            if let head { return head.consume(frame) }
            return distribute(frame)
        }
    }

    /// Behind the processors of the capture.
    fileprivate func distribute(_ frame: VideoFrame) -> FrameDisposition {
        let stages = state.withLock { $0.stages }
        if let stage = stages[.render] { stage.consume(frame) } else { local.consume(frame) }
        if let stage = stages[.encode] { stage.consume(frame) } else { outgoing.consume(frame) }
        return .accepted
    }

    // MARK: Processors

    /// The processors of one point; none to take them away.
    func setProcessors(_ processors: [any VideoProcessor], at point: ProcessingPoint) {
        let next: any VideoFrameConsumer
        switch point {
        case .capture: next = Distribution(self)
        case .render: next = local
        case .encode: next = outgoing
        }
        let stage =
            processors.isEmpty
            ? nil
            : ProcessingStage(
                processors, at: point, isOffline: clock.isOffline, clock: clock.clockTime,
                events: events, to: next)
        let old = state.withLock { state in
            let old = state.stages[point]
            state.stages[point] = stage
            if point == .capture { state.head = stage }
            return old
        }
        old?.close()
    }

    /// What a stage of the capture hands on to.
    private final class Distribution: VideoFrameConsumer {
        private weak let track: LocalTrack?
        init(_ track: LocalTrack) { self.track = track }
        func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
            track?.distribute(frame) ?? .notStarted
        }
    }

    var stageDrops: DropCounts {
        state.withLock { $0.stages }.values.reduce(DropCounts()) { $0 + $1.drops.all }
    }

    /// Looks after processors that hang.
    func check(now: MediaTime, limit: MediaTime) {
        for stage in state.withLock({ $0.stages }).values { stage.check(now: now, limit: limit) }
    }

    // MARK: When nothing comes

    /// How long no frame has come.
    func silence(now: MediaTime) -> MediaTime {
        now - MediaTime(nanoseconds: lastArrival.load(ordering: .relaxed))
    }

    /// Whether the last frame is kept, for when none comes.
    func keepLastFrame(_ keeps: Bool) {
        keepsLast.store(keeps, ordering: .relaxed)
        if !keeps { lastFrame.withLock { $0 = nil } }
    }

    var frameInterval: MediaTime { state.withLock { $0.timeline.frameInterval } }

    /// Sends the still picture, or the last one, once more.
    ///
    /// - Parameter port: The silent source; nothing is sent where it is not listened to any more.
    func sendFallback(_ still: PixelBuffer?, insteadOf port: SourcePort) {
        let last = lastFrame.withLock { $0 }
        guard let storage = still?.storage ?? last?.storage else { return }
        let rotation = still == nil ? last?.rotation ?? .none : .none
        let now = clock.now
        let arrival = lastArrival.load(ordering: .relaxed)
        let due = state.withLock { state -> MediaTime? in
            state.active === port ? state.timeline.next(now: now) : nil
        }
        guard let due else { return }
        fallbacks.note(storage.format)
        _ = pass(
            VideoFrame(storage, runningTime: due, rotation: rotation), due: due, latency: .zero,
            from: port)
        // It is still silent.
        lastArrival.store(arrival, ordering: .relaxed)
    }

    func close() {
        pacer.release()
        let stages = state.withLock { state in
            defer {
                state.stages = [:]
                state.head = nil
            }
            return state.stages
        }
        stages.values.forEach { $0.close() }
    }
}
