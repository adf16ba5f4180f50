internal import MediaCore

// The way of one frame.
extension LocalTrack: SourcePort.Receiver {
    func receive(_ frame: consuming VideoFrame, from port: SourcePort) -> FrameDisposition {
        let (now, timing) = (clock.now, port.timing)
        let frame = frame
        let (verdict, isNew) = state.withLock { state -> (SourceTimeline.Verdict, Bool) in
            let isNew = state.warming === port
            guard isNew || state.active === port else { return (.refused(.notStarted), false) }
            var timeline = state.timeline
            if isNew { timeline.begin() }
            let verdict = timeline.judge(
                frame, timing.pacing, timing.base, now: now, origin: clock.origin)
            if case .refused = verdict, isNew { return (verdict, false) }
            // It takes over with a frame that is shown, and with no other.
            state.timeline = timeline
            state.active = port
            if isNew { state.warming = nil }
            return (verdict, isNew)
        }
        switch verdict {
        case .refused(let cause): return .dropped(cause)
        case .due(let due, let latency, let waits):
            lastArrival.store(now.nanoseconds, ordering: .relaxed)
            if isNew {
                // What the source before holds back is overtaken.
                pacer.release()
                onSource(self, .tookOver(port))
            }
            if waits {
                let isDue = pacer.wait(until: due, on: clock) { [self] in
                    port.isAdmitting && isListening(to: port)
                }
                guard isDue else { return .notStarted }
            }
            return pass(frame, due: due, latency: latency, from: port, isFallback: false)
        }
    }

    func ended(_ port: SourcePort) { onSource(self, .ended(port)) }

    func pass(
        _ frame: consuming VideoFrame, due: MediaTime, latency: MediaTime?, from port: SourcePort,
        isFallback: Bool
    ) -> FrameDisposition {
        var frame = frame
        frame.liveTiming = latency.map {
            LiveTiming(clockOrigin: clock.origin, latency: max($0, clock.latency))
        }
        return way.withLock { _ -> FrameDisposition in
            let committed = state.withLock { state -> (MediaTime, isFirst: Bool)? in
                // It was overtaken by another source while it waited for its time.
                guard state.active === port else { return nil }
                defer { if !isFallback { state.isFirst = false } }
                return (state.timeline.commit(due), state.isFirst)
            }
            guard let (time, isFirst) = committed else { return .notStarted }
            frame.runningTime = time
            if isFallback {
                fallbacks.note(frame.format)
            } else {
                note(frame, isFirst: isFirst, of: port)
            }
            return processing.consume(frame)
        }
    }

    private func note(_ frame: VideoFrame, isFirst: Bool, of port: SourcePort) {
        passed.note(frame.format)
        if keepsLast { lastFrame.withLock { $0 = frame } }
        // Sources change seldom, and one word is cheap to write.
        local.setMirror(port.captureType == .camera)
        guard isFirst else { return }
        events.post(.firstLocalFrame(id, VideoSize(width: frame.width, height: frame.height)))
    }
}
