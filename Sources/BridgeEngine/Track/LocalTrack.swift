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
    let bytes: RateMeter
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
        bytes = RateMeter(clock: clock.clockTime)
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

// The path of one frame or unit through the track.
extension LocalTrack: SourceReceiver {
    var failure: @Sendable (EngineError) -> EngineEvent {
        { [id] in .sourceFailed(id, $0) }
    }

    func receive(_ item: consuming VideoItem, from port: VideoSourcePort) -> SourceReceipt {
        let (now, timing) = (clock.now, port.timing)
        let item = consume item
        let (stamp, isUnit) = (stamp(of: item, from: port), item.isUnit)
        let mayBegin = stamp.mayJump
        let (verdict, isNew) = state.withLock { state -> (SourceClock.Verdict, Bool) in
            let moment = SourceClock.Moment(
                now: now, origin: clock.origin, last: state.timeline.last,
                interval: state.timeline.interval)
            if state.active === port {
                let verdict = state.sourceClock.judge(
                    stamp, timing.pacing, timing.base, at: moment)
                return (verdict, false)
            }
            guard state.warming === port else { return (.refused(.notStarted), false) }
            // No picture comes of a unit that refers to others: the source before goes on.
            guard mayBegin else { return (.refused(.needsKeyFrame), false) }
            let verdict = state.warmingClock.judge(
                stamp, timing.pacing, timing.base, at: moment)
            // The new source becomes active only with a frame that is accepted.
            if case .refused = verdict { return (verdict, false) }
            (state.active, state.sourceClock) = (port, state.warmingClock)
            state.warming = nil
            state.forgetUnits()
            return (verdict, true)
        }
        switch verdict {
        case .refused(let cause):
            if isUnit { missed(from: port) }
            return .dropped(cause)
        case .due(let due, let latency, let waits):
            lastArrival.store(now.nanoseconds, ordering: .relaxed)
            arrivals.add(1, ordering: .relaxed)
            if isNew {
                // A frame of the previous source that is still held is obsolete.
                pacer.release()
                endUnits()
                onSource(self, .tookOver(port))
            }
            if waits {
                let isDue = pacer.wait(until: due, on: clock) { [self] in
                    port.isAdmitting && isListening(to: port)
                }
                guard isDue else {
                    if isUnit { missed(from: port) }
                    return .dropped(.notStarted)
                }
            }
            let receipt = pass(
                consume item, due: due, latency: latency, from: port, lead: stamp.lead)
            if isUnit, !receipt.disposition.isAccepted, !receipt.isCounted { missed(from: port) }
            return receipt
        }
    }

    func ended(_ port: VideoSourcePort) {
        let isActive = state.withLock { state in
            if state.active === port { state.isOver = port.cameToItsEnd }
            return state.active === port
        }
        guard isActive else { return onSource(self, .ended(port)) }
        // The pictures that a decoder holds back come before the end.
        decoder.finish { [self] in onSource(self, .ended(port)) }
    }

    /// Delivers a frame to the processors, or a unit to its receivers.
    ///
    /// - Parameters:
    ///   - lead: How much later a unit's picture is due than the unit.
    ///   - arrivals: For a fallback frame that replaces the frames of a silent source: the number of
    ///     frames that the source had delivered by then. `nil` for a frame of the source itself.
    func pass(
        _ item: consuming VideoItem, due: MediaTime, latency: MediaTime?,
        from port: VideoSourcePort, lead: MediaTime = .zero, insteadAfter arrivals: Int? = nil
    ) -> SourceReceipt {
        let live = latency.map {
            LiveTiming(clockOrigin: clock.origin, latency: max($0, clock.latency))
        }
        let delivery = Delivery(
            item: consume item, due: due, lead: lead, live: live, port: port,
            insteadAfter: arrivals)
        return turn.take(delivery) { self.handOn($0) }
    }

    /// A frame or a unit that is ready to be delivered.
    struct Delivery: Sendable {
        var item: VideoItem?
        let due: MediaTime
        let lead: MediaTime
        let live: LiveTiming?
        let port: VideoSourcePort
        let insteadAfter: Int?
    }

    /// What the track decided about a frame or a unit.
    private struct Commit {
        let time: MediaTime
        var isFirst = false
        var isAnew = false
        /// Whether pictures follow units.
        var endsUnits = false
    }

    private func handOn(_ delivery: consuming Delivery) -> SourceReceipt {
        let (due, port, arrivals) = (delivery.due, delivery.port, delivery.insteadAfter)
        let (lead, live) = (delivery.lead, delivery.live)
        guard let item = delivery.item.take() else { return .dropped(.notStarted) }
        let isUnit = item.isUnit
        let committed = state.withLock { state -> Commit? in
            // Another source became active while the frame was held until it was due.
            guard state.active === port else { return nil }
            if let arrivals {
                // The source delivers again: no fallback frame may come after its frames.
                guard self.arrivals.load(ordering: .relaxed) == arrivals else { return nil }
                return Commit(time: state.timeline.commit(due))
            }
            defer {
                (state.isFirst, state.isOver, state.carriesUnits) = (false, false, isUnit)
            }
            return Commit(
                time: state.timeline.commit(due), isFirst: state.isFirst, isAnew: state.isOver,
                endsUnits: state.carriesUnits && !isUnit)
        }
        guard let committed else { return .dropped(.notStarted) }
        let (time, isFirst) = (committed.time, committed.isFirst)
        if arrivals == nil {
            if committed.isAnew { [local, outgoing].forEach { $0.beginAnew() } }
            // Set for every frame: sources change rarely, and the write is cheap.
            local.setMirror(port.captureType == .camera)
        }
        switch consume item {
        case .unit(var unit):
            unit.runningTime = time + lead
            if unit.decodingTime != nil { unit.decodingTime = time }
            unit.liveTiming = live
            return carry(unit, isFirst: isFirst)
        case .picture(var frame):
            frame.runningTime = time
            frame.liveTiming = live
            if arrivals != nil {
                fallbacks.note(frame)
            } else {
                if committed.endsUnits { endUnits() }
                passed.note(frame)
                if keepsLast { keep(copy frame) }
            }
            let size = frame.size
            let disposition = processing.consume(consume frame)
            // The renderers have the frame by now: a program may stop the track at this event.
            if isFirst { events.post(.firstLocalFrame(id, size)) }
            return SourceReceipt(disposition: disposition, isCounted: true)
        }
    }
}
