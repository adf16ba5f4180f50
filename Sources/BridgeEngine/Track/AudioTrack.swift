internal import MediaBasics
internal import MediaCore
internal import Synchronization

/// The way of sound through the engine: from whichever source it listens to, made unbroken, through the
/// processors, to the local sinks and to the channel. The twin of `LocalTrack`.
///
/// Thread: any; frames go through one at a time.
final class AudioTrack: Sendable {
    /// To local sinks.
    let local = AudioStream()
    /// To the channel.
    let outgoing = AudioStream()
    private let clock: EngineClock
    private let events: EventHub
    private let onEnd: @Sendable () -> Void
    private struct State {
        var active: AudioSourcePort?
        /// Takes over with its first frame.
        var next: AudioSourcePort?
        var timeline: AudioTimeline
        var continuity: AudioContinuity
        var isFirst = true
        var told: MediaTime?

        mutating func listen(to port: AudioSourcePort?) {
            (active, next, isFirst) = (port, nil, true)
            timeline.begin()
            if port == nil { continuity.reset() }
        }
    }
    private let state: Mutex<State>
    /// Frames are handed on one at a time, so that those of two sources keep the order of their times.
    private let turn = DeliveryTurn<Delivery>(patience: .seconds(4).asDefaultDeadline)
    private struct Delivery: Sendable {
        let frame: AudioFrame
        let port: AudioSourcePort
    }
    private let pacer = Pacer()
    /// What came from every source that the track had.
    let sources = AudioFlowMeter()
    let processing: AudioProcessing
    let passed = AudioMeter()
    let level = LevelMeter()
    private let isMutedNow = Atomic<Bool>(false)
    private let lastArrival = Atomic<Int64>(0)

    init(
        clock: EngineClock, events: EventHub, configuration: AudioContinuity.Configuration,
        onEnd: @escaping @Sendable () -> Void
    ) {
        self.clock = clock
        self.events = events
        self.onEnd = onEnd
        processing = AudioProcessing(events)
        state = Mutex(
            State(
                timeline: AudioTimeline(isOffline: clock.isOffline),
                continuity: AudioContinuity(configuration)))
    }

    /// Whether nothing goes to the channel.
    var isMuted: Bool {
        get { isMutedNow.load(ordering: .relaxed) }
        set { isMutedNow.store(newValue, ordering: .relaxed) }
    }

    /// What had to be corrected so far.
    var corrections: AudioContinuity.Counts { state.withLock { $0.continuity.counts } }

    /// Listens to this source from here on, and to no other. Nothing changes where it does that already.
    func listen(to port: AudioSourcePort?) {
        let isNew = state.withLock { state in
            guard port == nil || state.active !== port else { return false }
            state.listen(to: port)
            return true
        }
        if isNew { changed(to: port) }
    }

    /// This source takes over with its first frame; until then the one before goes on. `nil` for none.
    func expect(_ port: AudioSourcePort?) { state.withLock { $0.next = port } }

    private func changed(to port: AudioSourcePort?) {
        lastArrival.store(clock.now.nanoseconds, ordering: .relaxed)
        // Whose frame was held is stopped.
        pacer.release()
        setMayBlock(port != nil)
    }

    func isListening(to port: AudioSourcePort) -> Bool { state.withLock { $0.active === port } }

    /// Since when no sound has come; `nil` while some is held, which is not late.
    var silentSince: MediaTime? {
        pacer.isHolding ? nil : MediaTime(nanoseconds: lastArrival.load(ordering: .relaxed))
    }

    /// Lets a frame go that is held until its time, so that its source can stop.
    func letGo() { pacer.release() }

    /// Lets the source's thread go, whatever it waits for: what finds a sink's queue full is dropped.
    func stopBlocking() {
        letGo()
        setMayBlock(false)
    }

    private func setMayBlock(_ mayBlock: Bool) {
        local.setMayBlock(mayBlock)
        outgoing.setMayBlock(mayBlock)
    }
}

extension AudioTrack: AudioSourcePort.Receiver {
    func ended(_ port: AudioSourcePort) { onEnd() }

    func receive(_ frame: consuming AudioFrame, from port: AudioSourcePort) -> FrameDisposition {
        let (now, timing, frame) = (clock.now, port.timing, frame)
        let takesOver = state.withLock { state in
            guard state.next === port else { return false }
            state.listen(to: port)
            return true
        }
        if takesOver { changed(to: port) }
        let verdict = state.withLock { state -> AudioTimeline.Verdict in
            guard state.active === port else { return .refused(.notStarted) }
            return state.timeline.judge(
                frame, timing.pacing, timing.base, next: state.continuity.expectedTime, now: now,
                origin: clock.origin)
        }
        switch verdict {
        case .refused(let cause): return .dropped(cause)
        case .due(let due, let latency, let waits):
            lastArrival.store(now.nanoseconds, ordering: .relaxed)
            if waits {
                let isDue = pacer.wait(until: due, on: clock) { [self] in
                    port.isAdmitting && isListening(to: port)
                }
                guard isDue else { return .notStarted }
            }
            return pass(frame, due: due, latency: latency, from: port)
        }
    }

    private func pass(
        _ frame: consuming AudioFrame, due: MediaTime, latency: MediaTime?,
        from port: AudioSourcePort
    ) -> FrameDisposition {
        var frame = frame
        frame.runningTime = due
        frame.liveTiming = latency.map {
            LiveTiming(clockOrigin: clock.origin, latency: max($0, clock.latency))
        }
        return turn.take(Delivery(frame: frame, port: port)) { delivery in
            let (frame, port) = (delivery.frame, delivery.port)
            let fed = state.withLock { state -> (AudioContinuity.Result, isFirst: Bool)? in
                guard state.active === port else { return nil }
                defer { state.isFirst = false }
                return (state.continuity.feed(frame), state.isFirst)
            }
            guard let (result, isFirst) = fed else { return .notStarted }
            if isFirst { events.post(.firstLocalAudio(frame.format)) }
            if let correction = result.correction { tell(correction) }
            for frame in result.frames { handOn(frame) }
            // All of it was there before.
            return result.frames.isEmpty ? .dropped(.backwards) : .accepted
        }
    }

    private func handOn(_ frame: AudioFrame) {
        guard let frame = processing.process(frame) else { return }
        passed.note(frame)
        level.note(frame)
        local.consume(frame)
        if !isMuted { outgoing.consume(frame) }
    }

    /// At most one event a second; the statistics count them all.
    private func tell(_ correction: AudioContinuity.Correction) {
        let now = clock.clockTime()
        let isDue = state.withLock { state in
            if let told = state.told, now - told < MediaTime(seconds: 1) { return false }
            state.told = now
            return true
        }
        if isDue { events.post(.audioCorrected(correction)) }
    }
}
