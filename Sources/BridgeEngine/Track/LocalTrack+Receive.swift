internal import MediaCore

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
