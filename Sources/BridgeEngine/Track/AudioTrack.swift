internal import MediaBasics
internal import MediaCore
internal import Synchronization

/// The audio path through the engine: from the active source through gap and overlap correction and
/// the processors to the local sinks and the channel. The audio counterpart of `LocalTrack`.
///
/// Thread: any; frames pass one at a time.
final class AudioTrack: Sendable {
    /// Audio for the local sinks.
    let local = AudioStream()
    /// Audio for the channel.
    let outgoing = AudioStream()
    let clock: EngineClock
    private let events: EventHub<EngineEvent>
    private let onSource: @Sendable (SourceEvent<AudioMedia>) -> Void
    private struct State {
        var continuity: AudioContinuity
        var isFirst = true
        /// When a correction was last posted as an event.
        var lastEvent: MediaTime?
    }
    private let state: Mutex<State>
    let entrance: TrackEntrance<AudioMedia>
    /// Delivers frames one at a time, so that the frames of two sources keep the order of their
    /// times.
    private let turn: DeliveryTurn<Delivery>
    private struct Delivery: Sendable {
        let frame: AudioFrame
        let port: AudioSourcePort
    }
    /// Counts the frames of all sources that the track has ever had.
    let sources = FlowMeter<AudioMedia>()
    let processing: AudioProcessing
    let passed = AudioMeter()
    let level = LevelMeter()
    private let isMutedNow = Atomic<Bool>(false)
    /// Locked while the audio is muted or sent again, so that calls from several threads follow one another.
    private let onMute = Mutex<(@Sendable (Bool) -> Void)?>(nil)

    init(
        clock: EngineClock, events: EventHub<EngineEvent>,
        onSource: @escaping @Sendable (SourceEvent<AudioMedia>) -> Void
    ) {
        self.clock = clock
        self.events = events
        self.onSource = onSource
        turn = DeliveryTurn(timeout: .seconds(4).asDefaultDeadline, on: clock.timeline)
        processing = AudioProcessing(events)
        entrance = TrackEntrance(clock, AudioTimeline.self)
        state = Mutex(State(continuity: AudioContinuity()))
    }

    /// Whether no audio is sent to the channel.
    var isMuted: Bool {
        get { isMutedNow.load(ordering: .relaxed) }
        set {
            onMute.withLock { body in
                isMutedNow.store(newValue, ordering: .relaxed)
                body?(newValue)
            }
        }
    }

    /// Calls `body` with the mute state: immediately if the audio is muted, and at each change.
    ///
    /// - Parameter body: Thread: any; one call at a time. `nil` to end it.
    func watchMuting(_ body: (@Sendable (Bool) -> Void)?) {
        onMute.withLock { present in
            present = body
            if isMuted { body?(true) }
        }
    }

    /// The counts of corrected gaps and overlaps so far.
    var corrections: AudioCorrectionCounts { state.withLock { $0.continuity.counts } }
}

extension AudioTrack: SourceReceiver {
    var mediaTrackID: MediaTrackID { .audio }

    func listen(to port: AudioSourcePort?) {
        entrance.listen(to: port)
        state.withLock { state in
            state.isFirst = true
            if port == nil { state.continuity.reset() }
        }
        setMayBlock(port != nil)
    }

    func setMayBlock(_ mayBlock: Bool) {
        local.setMayBlock(mayBlock)
        outgoing.setMayBlock(mayBlock)
    }

    func ended(_ port: AudioSourcePort) { onSource(.ended(port)) }

    func receive(_ frame: consuming AudioFrame, from port: AudioSourcePort) -> SourceReceipt {
        var frame = frame
        let stamp = SourceClock.Stamp(time: frame.runningTime, liveTiming: frame.liveTiming)
        let next = state.withLock { $0.continuity.expectedTime }
        let admission = entrance.admit(stamp, from: port, after: next) {
            state.withLock { $0.isFirst = true }
            onSource(.becameActive(port))
        }
        switch admission {
        case .refused(let cause): return .dropped(cause)
        case .due(let due, let live): (frame.runningTime, frame.liveTiming) = (due, live)
        }
        return turn.take(Delivery(frame: frame, port: port)) { delivery in
            let (frame, port) = (delivery.frame, delivery.port)
            let fed = state.withLock { state -> (AudioContinuity.Result, isFirst: Bool)? in
                guard isListening(to: port) else { return nil }
                defer { state.isFirst = false }
                return (state.continuity.feed(frame), state.isFirst)
            }
            guard let (result, isFirst) = fed else { return .dropped(.notStarted) }
            if result.correction != nil { postCorrections() }
            for frame in result.frames { deliver(frame) }
            if isFirst { events.post(.firstAudio(.local, frame.format)) }
            // No frames are left if all samples were delivered before.
            return result.frames.isEmpty ? .dropped(.backwards) : .accepted
        }
    }

    private func deliver(_ frame: AudioFrame) {
        guard let frame = processing.process(frame) else { return }
        passed.note(frame)
        level.note(frame)
        local.consume(frame)
        outgoing.consume(frame)
    }

    /// Posts at most one event per second; the statistics count all corrections.
    private func postCorrections() {
        let now = clock.clockTime()
        let counts = state.withLock { state -> AudioCorrectionCounts? in
            if let last = state.lastEvent, now - last < MediaTime(seconds: 1) { return nil }
            state.lastEvent = now
            return state.continuity.counts
        }
        if let counts { events.post(.audioCorrected(counts)) }
    }
}

// MARK: Processors

/// Runs the audio processors one after the other, on the thread that delivers the frame. Thread:
/// any, one frame at a time.
final class AudioProcessing: Sendable {
    /// Unchecked: only this object has the processor, and the track calls it for one frame at a
    /// time.
    private struct Hosted: @unchecked Sendable {
        let processor: any AudioProcessor
    }
    private let processors = Mutex<[Hosted]>([])
    private let events: EventHub<EngineEvent>
    private let isFailing = Atomic<Bool>(false)
    let drops = DropMeter()

    init(_ events: EventHub<EngineEvent>) { self.events = events }

    func set(_ next: sending [any AudioProcessor]) {
        let next = next.map { Hosted(processor: $0) }
        // The previous processors are released outside the lock.
        _ = processors.exchange(next)
    }

    /// Runs the processors on a frame.
    ///
    /// - Returns: `nil` if the frame was dropped; the drop is counted.
    func process(_ frame: consuming AudioFrame) -> AudioFrame? {
        let processors = self.processors.withLock { $0 }
        var current: AudioFrame? = consume frame
        for processor in processors.map(\.processor) {
            guard let taken = current.take() else { break }
            do {
                current = try processor.process(consume taken)
                isFailing.store(false, ordering: .relaxed)
            } catch {
                // Only the first failure in a row is reported.
                if !isFailing.exchange(true, ordering: .relaxed) {
                    events.post(
                        .processorFailed(
                            .audio, .capture,
                            EngineError(
                                .processorFailed, call: "process",
                                message: "\(type(of: processor)) failed; its frame is dropped",
                                underlying: error)))
                }
            }
        }
        if current == nil { drops.note(.processor) }
        return current
    }
}
