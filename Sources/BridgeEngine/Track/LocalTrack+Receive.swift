internal import MediaCore

// The path of one frame through the track.
extension LocalTrack: SourceReceiver {
    var failure: @Sendable (EngineError) -> EngineEvent {
        { [id] in .sourceFailed(id, $0) }
    }

    func receive(_ frame: consuming VideoFrame, from port: VideoSourcePort) -> SourceReceipt {
        let (now, timing) = (clock.now, port.timing)
        let frame = consume frame
        let (verdict, isNew) = state.withLock { state -> (SourceClock.Verdict, Bool) in
            let moment = SourceClock.Moment(
                now: now, origin: clock.origin, last: state.timeline.last,
                interval: state.timeline.interval)
            if state.active === port {
                let verdict = state.sourceClock.judge(
                    frame, timing.pacing, timing.base, at: moment)
                return (verdict, false)
            }
            guard state.warming === port else { return (.refused(.notStarted), false) }
            let verdict = state.warmingClock.judge(
                frame, timing.pacing, timing.base, at: moment)
            // The new source becomes active only with a frame that is accepted.
            if case .refused = verdict { return (verdict, false) }
            (state.active, state.sourceClock) = (port, state.warmingClock)
            state.warming = nil
            return (verdict, true)
        }
        switch verdict {
        case .refused(let cause): return .dropped(cause)
        case .due(let due, let latency, let waits):
            lastArrival.store(now.nanoseconds, ordering: .relaxed)
            arrivals.add(1, ordering: .relaxed)
            if isNew {
                // A frame of the previous source that is still held is obsolete.
                pacer.release()
                onSource(self, .tookOver(port))
            }
            if waits {
                let isDue = pacer.wait(until: due, on: clock) { [self] in
                    port.isAdmitting && isListening(to: port)
                }
                guard isDue else { return .dropped(.notStarted) }
            }
            return pass(consume frame, due: due, latency: latency, from: port)
        }
    }

    func ended(_ port: VideoSourcePort) {
        state.withLock { if $0.active === port { $0.isOver = port.cameToItsEnd } }
        onSource(self, .ended(port))
    }

    /// Delivers a frame to the processors.
    ///
    /// - Parameter arrivals: For a fallback frame that replaces the frames of a silent source: the
    ///   number of frames that the source had delivered by then. `nil` for a frame of the source
    ///   itself.
    func pass(
        _ frame: consuming VideoFrame, due: MediaTime, latency: MediaTime?,
        from port: VideoSourcePort,
        insteadAfter arrivals: Int? = nil
    ) -> SourceReceipt {
        var frame = consume frame
        frame.liveTiming = latency.map {
            LiveTiming(clockOrigin: clock.origin, latency: max($0, clock.latency))
        }
        let delivery = Delivery(frame: frame, due: due, port: port, insteadAfter: arrivals)
        return turn.take(delivery) { self.handOn($0) }
    }

    /// A frame that is ready to be delivered.
    struct Delivery: Sendable {
        var frame: VideoFrame?
        let due: MediaTime
        let port: VideoSourcePort
        let insteadAfter: Int?
    }

    private func handOn(_ delivery: consuming Delivery) -> SourceReceipt {
        let (due, port, arrivals) = (delivery.due, delivery.port, delivery.insteadAfter)
        guard var frame = delivery.frame.take() else { return .dropped(.notStarted) }
        let committed = state.withLock { state -> (MediaTime, isFirst: Bool, isAnew: Bool)? in
            // Another source became active while the frame was held until it was due.
            guard state.active === port else { return nil }
            if let arrivals {
                // The source delivers again: no fallback frame may come after its frames.
                guard self.arrivals.load(ordering: .relaxed) == arrivals else { return nil }
                return (state.timeline.commit(due), false, false)
            }
            defer { (state.isFirst, state.isOver) = (false, false) }
            return (state.timeline.commit(due), state.isFirst, state.isOver)
        }
        guard let (time, isFirst, isAnew) = committed else { return .dropped(.notStarted) }
        frame.runningTime = time
        if arrivals != nil {
            fallbacks.note(frame)
        } else {
            if isAnew { [local, outgoing].forEach { $0.beginAnew() } }
            note(frame, of: port)
        }
        let size = frame.size
        let disposition = processing.consume(consume frame)
        // The renderers have the frame by now: a program may stop the track at this event.
        if isFirst { events.post(.firstLocalFrame(id, size)) }
        return SourceReceipt(disposition: disposition, isCounted: true)
    }

    private func note(_ frame: borrowing VideoFrame, of port: VideoSourcePort) {
        passed.note(frame)
        if keepsLast { keep(copy frame) }
        // Set for every frame: sources change rarely, and the write is cheap.
        local.setMirror(port.captureType == .camera)
    }
}
