internal import MediaBasics
internal import MediaCore
internal import Synchronization

/// One video path through the engine: from the active source through the processors to the local
/// video sinks and the channel.
///
/// Thread: any; frames pass one at a time.
final class LocalTrack: Sendable {
    let id: TrackID
    /// Video for the local video sinks.
    let local: VideoStream
    /// Video for the channel.
    let outgoing: VideoStream
    let clock: EngineClock
    let events: EventHub<EngineEvent>
    let onSource: @Sendable (SourceEvent<VideoMedia>) -> Void

    struct State {
        var timeline = SourceTimeline()
        var isFirst = true
        /// Whether the source delivers encoded frames, and the time of the latest.
        var carriesUnits = false
        var lastUnit: MediaTime?
        /// The time of the latest decoded picture.
        var lastPicture: MediaTime?
        /// The receivers' reference chain of the source's units.
        var chain = ReferenceChain()
        /// Whether a key frame was asked for since the last one.
        var hasRequestedKeyFrame = false
        var hasReportedReordering = false
        var hasReportedSlowness = false
        /// Whether the next decoded picture is the first of a source.
        var announcesPicture = false
        /// Whether a source has ended and no frame has arrived since.
        var isOver = false

        mutating func resetUnits() {
            (carriesUnits, lastUnit, lastPicture, announcesPicture) = (false, nil, nil, false)
            (chain, hasRequestedKeyFrame) = (ReferenceChain(), false)
        }
    }
    let state = Mutex(State())
    let entrance: TrackEntrance<VideoMedia>
    /// Delivers frames one at a time, so that the frames of two sources keep the order of their
    /// times. It feeds queues and the transport's `send`, which does not block. If a queue waits
    /// for a slow video sink, the source intentionally waits too.
    let turn: DeliveryTurn<Delivery>
    let processing: ProcessingStages
    /// Counts the frames of all sources that the track has ever had.
    let sources = FlowMeter<VideoMedia>()
    /// Counts frames of sources that were passed on.
    let passed: FrameMeter
    /// Counts fallback frames, which were sent because the source delivered none.
    let fallbacks = FrameMeter()
    /// Decodes encoded frames while a receiver needs pictures.
    let decoder: TrackDecoder
    /// Counts the pictures that ``decoder`` made.
    let decodedPictures = RateMeter()
    /// Counts the frames that were to be encoded for the channel.
    let encoded = EncodingMeter()
    /// Counts the encoded frames that were passed on.
    let carriedUnits = RateMeter()
    let bytes: RateMeter
    /// The last frame that was passed on, if it is kept as a fallback for a silent source.
    let lastFrame = Mutex<VideoFrame?>(nil)
    let keepsLast: Bool

    init(
        _ id: TrackID, clock: EngineClock, backend: any MediaBackend, events: EventHub<EngineEvent>,
        keepsLastFrame: Bool, queueTimeout: Duration,
        onSource: @escaping @Sendable (SourceEvent<VideoMedia>) -> Void
    ) {
        self.id = id
        self.clock = clock
        self.events = events
        self.onSource = onSource
        keepsLast = keepsLastFrame
        passed = FrameMeter(clock: clock.clockTime)
        bytes = RateMeter(clock: clock.clockTime)
        decoder = TrackDecoder(backend, clock: clock, queueTimeout: queueTimeout)
        local = VideoStream(backend)
        outgoing = VideoStream(backend)
        processing = ProcessingStages(
            of: .video(id), clock: clock, events: events, queueTimeout: queueTimeout, local: local,
            outgoing: outgoing)
        // If no frame may be lost, the previous frame may have to wait for several video sinks.
        turn = DeliveryTurn(
            timeout: queueTimeout * (clock.isOffline ? 10 : 1), on: clock.timeline)
        entrance = TrackEntrance(clock, SourceClock.self)
        decoder.output.track = self
    }

    /// The content hint of the current source.
    var contentHint: VideoContentHint { entrance.active?.traits.contentHint ?? .unspecified }

    // MARK: Sources

    func listen(to port: VideoSourcePort?) {
        entrance.listen(to: port)
        state.withLock { state in
            state.isFirst = true
            state.hasReportedSlowness = false
            state.resetUnits()
        }
        endUnits()
        setMayBlock(port != nil)
        if port == nil { keep(nil) }
    }

    func setMayBlock(_ mayBlock: Bool) {
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

    func settled(within limit: Duration) async {
        await decoder.settled(within: limit)
        await processing.drained(within: limit)
    }

    /// Stores the last frame that was passed on. The previous one is released outside the lock.
    func keep(_ frame: VideoFrame?) { _ = lastFrame.exchange(frame) }

    // MARK: Fallback

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
        let rotation = still == nil ? last?.rotation ?? .upright : .upright
        let frame = VideoFrame(storage, runningTime: nil, rotation: rotation)
        _ = pass(
            Delivery(
                item: .picture(frame), due: clock.now, live: clock.liveTiming(.zero), port: port,
                insteadAfter: arrivals))
    }
}

// The path of one frame or unit through the track.
extension LocalTrack: SourceReceiver {
    var mediaTrackID: MediaTrackID { .video(id) }

    func receive(_ item: consuming VideoItem, from port: VideoSourcePort) -> SourceReceipt {
        let item = consume item
        let (stamp, isUnit) = (stamp(of: item, from: port), item.isUnit)
        let (last, interval) = state.withLock { ($0.timeline.last, $0.timeline.interval) }
        let admission = entrance.admit(
            stamp, from: port, after: last, interval: interval, slowing: reportSlowness
        ) {
            state.withLock {
                $0.resetUnits()
                $0.hasReportedSlowness = false
            }
            endUnits()
            onSource(.becameActive(port))
        }
        switch admission {
        case .refused(let cause):
            if isUnit { missed(from: port) }
            return .dropped(cause)
        case .due(let due, let live):
            let receipt = pass(
                Delivery(item: consume item, due: due, lead: stamp.lead, live: live, port: port))
            if isUnit, !receipt.disposition.isAccepted, !receipt.isCounted { missed(from: port) }
            return receipt
        }
    }

    /// Warns, once for each source, that its frames are shown later than their timestamps say.
    private func reportSlowness() {
        let isNew = state.withLock { state in
            defer { state.hasReportedSlowness = true }
            return !state.hasReportedSlowness
        }
        guard isNew else { return }
        events.post(
            .warning(
                "the source of \(id) delivers its frames more slowly than their timestamps say: each "
                    + "frame is shown when it arrives. Try: a release build (swift build -c release), "
                    + "fewer frames per second, or timestamps that say when each frame was made"))
    }

    func ended(_ port: VideoSourcePort) {
        guard isListening(to: port) else { return onSource(.ended(port)) }
        state.withLock { $0.isOver = port.isComplete }
        // The pictures that a decoder holds back come before the end.
        decoder.finish { [onSource] in onSource(.ended(port)) }
    }

    /// Delivers a frame to the processors, or a unit to its receivers.
    private func pass(_ delivery: consuming Delivery) -> SourceReceipt {
        turn.take(delivery) { self.deliver($0) }
    }

    /// A frame or a unit that is ready to be delivered.
    struct Delivery: Sendable {
        var item: VideoItem?
        let due: MediaTime
        /// How much later a unit's picture is due than the unit.
        var lead = MediaTime.zero
        let live: LiveTiming?
        let port: VideoSourcePort
        /// For a fallback frame that replaces the frames of a silent source: the number of frames that
        /// the source had delivered by then. `nil` for a frame of the source itself.
        var insteadAfter: Int?
    }

    /// What the track decided about a frame or a unit.
    private struct Commit {
        let time: MediaTime
        var isFirst = false
        var isRestart = false
        /// Whether pictures follow units.
        var endsUnits = false
    }

    private func deliver(_ delivery: consuming Delivery) -> SourceReceipt {
        let (due, port, arrivals) = (delivery.due, delivery.port, delivery.insteadAfter)
        let (lead, live) = (delivery.lead, delivery.live)
        guard let item = delivery.item.take() else { return .dropped(.notStarted) }
        let isUnit = item.isUnit
        let committed = state.withLock { state -> Commit? in
            // Another source became active while the frame was held until it was due.
            guard isListening(to: port) else { return nil }
            if let arrivals {
                // The source delivers again: no fallback frame may come after its frames.
                guard entrance.arrivals == arrivals else { return nil }
                return Commit(time: state.timeline.commit(due))
            }
            defer {
                (state.isFirst, state.isOver, state.carriesUnits) = (false, false, isUnit)
            }
            return Commit(
                time: state.timeline.commit(due), isFirst: state.isFirst, isRestart: state.isOver,
                endsUnits: state.carriesUnits && !isUnit)
        }
        guard let committed else { return .dropped(.notStarted) }
        let (time, isFirst) = (committed.time, committed.isFirst)
        if arrivals == nil {
            if committed.isRestart { [local, outgoing].forEach { $0.markInterruption() } }
            // Set for every frame: sources change rarely, and the write is cheap.
            local.setMirror(port.traits.captureType == .camera)
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
            // The video sinks have the frame by now: a program may stop the track at this event.
            if isFirst { events.post(.firstFrame(.local(id), size)) }
            return SourceReceipt(disposition: disposition, isCounted: true)
        }
    }
}
