internal import MediaCore
internal import Synchronization

/// One video path through the engine: from the active source through the processors to the local
/// renderers and the channel.
///
/// Thread: any; frames pass one at a time.
final class LocalTrack: Sendable {
    let id: TrackID
    /// Video for the local renderers.
    let local: VideoStream
    /// Video for the channel.
    let outgoing: VideoStream
    let clock: EngineClock
    let events: EventHub
    let onSource: @Sendable (LocalTrack, SourceEvent) -> Void

    /// Events that the engine must act upon. Reported in order, on any thread.
    enum SourceEvent: Sendable {
        case tookOver(VideoSourcePort)
        case ended(VideoSourcePort)
        /// A receiver of the units needs a key frame.
        case keyFrameNeeded
        /// The limit of the receivers and the network has changed.
        case limitChanged(VideoLimit)
    }
    struct State {
        var active: VideoSourcePort?
        /// The source that runs already and becomes active with its first frame.
        var warming: VideoSourcePort?
        var timeline = SourceTimeline()
        var sourceClock: SourceClock
        /// The clock of the source that is about to become active.
        var warmingClock: SourceClock
        var isFirst = true
        /// Whether the source delivers encoded units, and the time of the latest.
        var carriesUnits = false
        var lastUnit: MediaTime?
        /// The time of the latest decoded picture.
        var lastPicture: MediaTime?
        /// The receivers' reference chain of the source's units.
        var chain = ReferenceChain()
        /// Whether a key frame was asked for since the last one.
        var hasAskedForKeyFrame = false
        var hasToldReordering = false
        /// Whether the next decoded picture is the first of a source.
        var announcesPicture = false
        /// Whether a source has ended and no frame has arrived since.
        var isOver = false

        mutating func forgetUnits() {
            (carriesUnits, lastUnit, lastPicture, announcesPicture) = (false, nil, nil, false)
            (chain, hasAskedForKeyFrame) = (ReferenceChain(), false)
        }
    }
    let state: Mutex<State>
    /// Delivers frames one at a time, so that the frames of two sources keep the order of their
    /// times. It feeds queues and the transport's `send`, which does not block. If a queue waits
    /// for a slow renderer, the source intentionally waits too.
    let turn: DeliveryTurn<Delivery>
    let pacer = Pacer()
    let processing: ProcessingStages
    /// Counts the frames of all sources that the track has ever had.
    let sources = FlowMeter<VideoMedia>()
    /// Counts frames of sources that were passed on.
    let passed: FrameMeter
    /// Counts fallback frames, which were sent because the source delivered none.
    let fallbacks = FrameMeter()
    /// Decodes encoded units while a receiver needs pictures.
    let decoder: TrackDecoder
    private let decoded = DecodedFrameConsumer()
    /// Counts the pictures that ``decoder`` made.
    let decodedPictures = RateMeter()
    /// Counts the frames that were to be encoded for the channel.
    let encoded = EncodingMeter()
    /// Counts the encoded units that were passed on.
    let carriedUnits = RateMeter()
    let bitRate: BitRateMeter
    let lastArrival = Atomic<Int64>(0)
    /// The number of frames of sources that were not refused because of their time.
    let arrivals = Atomic<Int>(0)
    /// The last frame that was passed on, if it is kept as a fallback for a silent source.
    let lastFrame = Mutex<VideoFrame?>(nil)
    let keepsLast: Bool

    init(
        _ id: TrackID, clock: EngineClock, backend: any MediaBackend, events: EventHub,
        keepsLastFrame: Bool, queueTimeout: Duration,
        onSource: @escaping @Sendable (LocalTrack, SourceEvent) -> Void
    ) {
        self.id = id
        self.clock = clock
        self.events = events
        self.onSource = onSource
        keepsLast = keepsLastFrame
        passed = FrameMeter(clock: clock.clockTime)
        bitRate = BitRateMeter(clock.clockTime)
        decoder = TrackDecoder(
            backend, to: decoded, clock: clock, queueTimeout: queueTimeout
        ) { [decoded] in decoded.track?.requestKeyFrame() }
        local = VideoStream(backend)
        outgoing = VideoStream(backend)
        processing = ProcessingStages(
            of: id, clock: clock, events: events, queueTimeout: queueTimeout, local: local,
            outgoing: outgoing)
        // If no frame may be lost, the previous frame may have to wait for several renderers.
        turn = DeliveryTurn(
            timeout: queueTimeout * (clock.isOffline ? 10 : 1), on: clock.timeline)
        let fresh = SourceClock(isOffline: clock.isOffline)
        state = Mutex(State(sourceClock: fresh, warmingClock: fresh))
        decoded.track = self
    }

    /// The content hint of the current source.
    var contentHint: VideoContentHint { state.withLock { $0.active }?.contentHint ?? .none }

    // MARK: Sources

    /// Makes this source the only active one from now on; `nil` for none.
    func listen(to port: VideoSourcePort?) {
        let before = state.withLock { state in
            let before = state.active
            state.active = port
            state.warming = nil
            state.sourceClock = SourceClock(isOffline: clock.isOffline)
            state.isFirst = true
            state.forgetUnits()
            return before
        }
        endUnits()
        lastArrival.store(clock.now.nanoseconds, ordering: .relaxed)
        if before !== port { letGo() }
        setMayBlock(port != nil)
        if port == nil { keep(nil) }
    }

    /// Sets the source that becomes active with its first frame.
    ///
    /// - Returns: The source that was set before; `nil` if there was none.
    func expect(_ port: VideoSourcePort) -> VideoSourcePort? {
        state.withLock { state in
            defer { state.warming = port }
            state.warmingClock = SourceClock(isOffline: clock.isOffline)
            return state.warming
        }
    }

    /// Cancels the change to this source.
    ///
    /// - Parameter other: The source that is to become active with its first frame instead; `nil`
    ///   for none.
    /// - Returns: False if `port` is already active.
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

    /// Releases a frame that is held until it is due, so that its source can stop.
    func letGo() { pacer.release() }

    /// Unblocks the source's thread: a held frame is released, and frames that find a renderer's
    /// queue full are dropped.
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
        decoder.end()
        keep(nil)
    }

    /// Stores the last frame that was passed on. The previous one is released outside the lock.
    func keep(_ frame: VideoFrame?) {
        _ = lastFrame.withLock { last in
            defer { last = frame }
            return last
        }
    }

    // MARK: Fallback

    /// The time of the last frame; `nil` while a frame is held until it is due, because it is not
    /// late.
    var silentSince: MediaTime? {
        pacer.isHolding ? nil : MediaTime(nanoseconds: lastArrival.load(ordering: .relaxed))
    }

    var frameInterval: MediaTime { state.withLock { $0.timeline.interval } }

    /// Sends the still picture, or else the last frame, as a fallback frame.
    ///
    /// - Parameters:
    ///   - port: The silent source; nothing is sent if it is no longer active.
    ///   - arrivals: The number of frames that had arrived when the source fell silent; nothing is
    ///     sent once another one has arrived.
    func sendFallback(_ still: PixelBuffer?, insteadOf port: VideoSourcePort, after arrivals: Int) {
        let last = lastFrame.withLock { $0 }
        guard let storage = still?.storage ?? last?.storage else { return }
        let rotation = still == nil ? last?.rotation ?? .none : .none
        let frame = VideoFrame(storage, runningTime: nil, rotation: rotation)
        _ = pass(
            .picture(frame), due: clock.now, latency: .zero, from: port, insteadAfter: arrivals)
    }
}
