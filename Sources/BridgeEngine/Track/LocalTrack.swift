internal import MediaCore
internal import Synchronization

/// One way of pictures through the engine: from whichever source it listens to, through the processors,
/// to the local renderers and to the channel.
///
/// Thread: any; frames go through one at a time.
final class LocalTrack: Sendable {
    let id: TrackID
    /// To local renderers.
    let local: VideoStream
    /// To the channel.
    let outgoing: VideoStream
    let clock: EngineClock
    let events: EventHub
    let onSource: @Sendable (LocalTrack, SourceEvent) -> Void

    /// What the engine must act upon. Told in order, on threads of all kinds.
    enum SourceEvent: Sendable {
        case tookOver(VideoSourcePort)
        case ended(VideoSourcePort)
    }
    struct State {
        var active: VideoSourcePort?
        /// Runs already; takes over with its first frame.
        var warming: VideoSourcePort?
        var timeline = SourceTimeline()
        var sourceClock: SourceClock
        /// Of the source that is to take over.
        var warmingClock: SourceClock
        var isFirst = true
        /// A source came to its end, and no frame of another has come.
        var isOver = false
    }
    let state: Mutex<State>
    /// Frames are handed on one at a time, so that those of two sources keep the order of their times.
    /// Behind it are queues and the transport's `send`, which does not block; where a queue waits for a
    /// slow renderer, the source is to wait too.
    let turn: DeliveryTurn<Delivery>
    let pacer = Pacer()
    let processing: ProcessingStages
    /// What came from every source that the track had.
    let sources = SourceMeter()
    /// Frames of sources that went out.
    let passed: FrameMeter
    /// Frames that were made because none came.
    let fallbacks = FrameMeter()
    /// Encoded units that no picture came of, in decoders that are gone.
    let lostUnits = Atomic<Int>(0)
    let lastArrival = Atomic<Int64>(0)
    /// Frames of sources that came in time.
    let arrivals = Atomic<Int>(0)
    /// The frame that went out last, where it is kept for when none comes.
    let lastFrame = Mutex<VideoFrame?>(nil)
    let keepsLast: Bool

    init(
        _ id: TrackID, clock: EngineClock, backend: any MediaBackend, events: EventHub,
        keepsLastFrame: Bool, patience: Duration,
        onSource: @escaping @Sendable (LocalTrack, SourceEvent) -> Void
    ) {
        self.id = id
        self.clock = clock
        self.events = events
        self.onSource = onSource
        keepsLast = keepsLastFrame
        passed = FrameMeter(clock: clock.clockTime)
        local = VideoStream(backend)
        outgoing = VideoStream(backend)
        processing = ProcessingStages(
            clock: clock, events: events, patience: patience, local: local,
            outgoing: outgoing)
        // Where nothing may be lost, the one before may have to wait for several renderers.
        turn = DeliveryTurn(patience: patience * (clock.isOffline ? 10 : 1))
        let fresh = SourceClock(isOffline: clock.isOffline)
        state = Mutex(State(sourceClock: fresh, warmingClock: fresh))
    }

    // MARK: Sources

    /// Listens to this source from here on, and to no other.
    func listen(to port: VideoSourcePort?) {
        let before = state.withLock { state in
            let before = state.active
            state.active = port
            state.warming = nil
            state.sourceClock = SourceClock(isOffline: clock.isOffline)
            state.isFirst = true
            return before
        }
        lastArrival.store(clock.now.nanoseconds, ordering: .relaxed)
        if before !== port { letGo() }
        setMayBlock(port != nil)
        if port == nil { keep(nil) }
    }

    /// Goes over to this source with its first frame.
    ///
    /// - Returns: What was expected before.
    func expect(_ port: VideoSourcePort) -> VideoSourcePort? {
        state.withLock { state in
            defer { state.warming = port }
            state.warmingClock = SourceClock(isOffline: clock.isOffline)
            return state.warming
        }
    }

    /// Does not go over after all.
    ///
    /// - Parameter other: What is expected instead.
    /// - Returns: False where it took over already.
    @discardableResult
    func forget(_ port: VideoSourcePort, for other: VideoSourcePort? = nil) -> Bool {
        state.withLock { state in
            if state.warming === port {
                state.warming = other
                state.warmingClock = SourceClock(isOffline: clock.isOffline)
            }
            return state.active !== port
        }
    }

    func isListening(to port: VideoSourcePort) -> Bool { state.withLock { $0.active === port } }

    /// Lets a frame go that is held until its time, so that its source can stop.
    func letGo() { pacer.release() }

    /// Lets the source's thread go, whatever it waits for: what finds a renderer's queue full is dropped.
    func stopBlocking() {
        letGo()
        setMayBlock(false)
    }

    private func setMayBlock(_ mayBlock: Bool) {
        local.setMayBlock(mayBlock)
        outgoing.setMayBlock(mayBlock)
        processing.setMayBlock(mayBlock)
    }

    func close() {
        stopBlocking()
        processing.close()
        keep(nil)
    }

    /// Keeps the frame that went out last. What it replaces is let go of outside of the lock.
    func keep(_ frame: VideoFrame?) {
        _ = lastFrame.withLock { last in
            defer { last = frame }
            return last
        }
    }

    // MARK: When nothing comes

    /// Since when no frame has come; `nil` while one is held, which is not late.
    var silentSince: MediaTime? {
        pacer.isHolding ? nil : MediaTime(nanoseconds: lastArrival.load(ordering: .relaxed))
    }

    var frameInterval: MediaTime { state.withLock { $0.timeline.interval } }

    /// Sends the still picture, or the last one, once more.
    ///
    /// - Parameters:
    ///   - port: The silent source; nothing is sent where it is not listened to any more.
    ///   - arrivals: How many frames had come when it fell silent; nothing is sent after the next.
    func sendFallback(_ still: PixelBuffer?, insteadOf port: VideoSourcePort, after arrivals: Int) {
        let last = lastFrame.withLock { $0 }
        guard let storage = still?.storage ?? last?.storage else { return }
        let rotation = still == nil ? last?.rotation ?? .none : .none
        let frame = VideoFrame(storage, runningTime: nil, rotation: rotation)
        _ = pass(frame, due: clock.now, latency: .zero, from: port, insteadAfter: arrivals)
    }
}
