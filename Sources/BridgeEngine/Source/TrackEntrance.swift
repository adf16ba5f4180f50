internal import MediaBasics
internal import MediaCore
internal import Synchronization

/// The entrance of a track: the source that the track listens to, the source that takes over with its
/// first frame, and the conversion of their times to the engine's running time.
///
/// Thread: any.
final class TrackEntrance<Media: CountedMedia>: Sendable {
    private struct State {
        var active: SourcePort<Media>?
        /// The source that runs already and becomes active with its first frame.
        var next: SourcePort<Media>?
        var timing: any SourceTiming
        /// Converts the times of ``next``.
        var nextTiming: any SourceTiming
    }
    private let state: Mutex<State>
    private let clock: EngineClock
    private let timing: any SourceTiming.Type
    private let pacer = Pacer()
    private let lastArrival = Atomic<Int64>(0)
    private let admitted = Atomic<Int>(0)

    /// - Parameter timing: Converts the times of sources.
    init(_ clock: EngineClock, _ timing: any SourceTiming.Type) {
        self.clock = clock
        self.timing = timing
        let fresh = timing.init(isOffline: clock.isOffline)
        state = Mutex(State(timing: fresh, nextTiming: fresh))
    }

    // MARK: Sources

    /// The source that the track listens to; `nil` if none.
    var active: SourcePort<Media>? { state.withLock { $0.active } }

    func isListening(to port: SourcePort<Media>) -> Bool {
        state.withLock { $0.active === port }
    }

    /// Makes this source the only active one from now on; `nil` for none.
    func listen(to port: SourcePort<Media>?) {
        let before = state.withLock { state in
            defer { (state.active, state.next) = (port, nil) }
            state.timing = timing.init(isOffline: clock.isOffline)
            return state.active
        }
        lastArrival.store(clock.now.nanoseconds, ordering: .relaxed)
        if before !== port { releaseHeldFrame() }
    }

    /// Sets the source that becomes active with its first frame.
    ///
    /// - Returns: The source that was set before; `nil` if there was none.
    func expect(_ port: SourcePort<Media>) -> SourcePort<Media>? {
        state.withLock { state in
            defer { state.next = port }
            state.nextTiming = timing.init(isOffline: clock.isOffline)
            return state.next
        }
    }

    /// Cancels the change to this source.
    ///
    /// - Parameter other: The source that is to become active with its first frame instead; `nil`
    ///   for none.
    /// - Returns: False if `port` is already active.
    @discardableResult
    func forget(_ port: SourcePort<Media>, for other: SourcePort<Media>?) -> Bool {
        state.withLock { state in
            if state.next === port {
                state.next = other
                state.nextTiming = timing.init(isOffline: clock.isOffline)
            }
            return state.active !== port
        }
    }

    /// Releases a frame that is held until it is due, so that its source can stop.
    func releaseHeldFrame() { pacer.release() }

    /// The time of the last frame; `nil` while a frame is held until it is due, because it is not
    /// late.
    var silentSince: MediaTime? {
        pacer.isHolding ? nil : MediaTime(nanoseconds: lastArrival.load(ordering: .relaxed))
    }

    /// The number of frames that were not refused because of their time.
    var arrivals: Int { admitted.load(ordering: .relaxed) }

    // MARK: Frames

    /// The decision about a frame.
    enum Admission {
        /// The frame belongs at this running time of the engine.
        case due(MediaTime, LiveTiming?)
        case refused(DropCause)
    }

    /// Decides about a frame. Holds it until it is due, if the engine paces its source.
    ///
    /// - Parameters:
    ///   - last: Where the track's stream has arrived: for video the time of the last frame, for
    ///     audio the end of it; `nil` before the first.
    ///   - interval: The interval between the track's frames.
    ///   - slowing: Called when the source begins to deliver more slowly than its timestamps say.
    ///   - takingOver: Called if the source becomes active with this frame.
    func admit(
        _ stamp: SourceClock.Stamp, from port: SourcePort<Media>, after last: MediaTime?,
        interval: MediaTime = .zero, slowing: () -> Void = {}, takingOver: () -> Void
    ) -> Admission {
        let (now, source) = (clock.now, port.traits)
        let moment = SourceClock.Moment(
            now: now, origin: clock.origin, last: last, interval: interval)
        typealias Judgement = (SourceClock.Verdict, isNew: Bool, slows: Bool)
        let (verdict, isNew, slows) = state.withLock { state -> Judgement in
            if state.active === port {
                let wasSlow = state.timing.isSlow
                let verdict = state.timing.judge(
                    stamp, source.needsPacing, source.timeBase, at: moment)
                return (verdict, false, state.timing.isSlow && !wasSlow)
            }
            guard state.next === port else { return (.refused(.notStarted), false, false) }
            // No picture comes of a unit that refers to others: the source before goes on.
            guard stamp.mayJump else { return (.refused(.needsKeyFrame), false, false) }
            let verdict = state.nextTiming.judge(
                stamp, source.needsPacing, source.timeBase, at: moment)
            // The new source becomes active only with a frame that is accepted.
            if case .refused = verdict { return (verdict, false, false) }
            (state.active, state.timing, state.next) = (port, state.nextTiming, nil)
            return (verdict, true, false)
        }
        switch verdict {
        case .refused(let cause): return .refused(cause)
        case .due(let due, let latency, let waits):
            lastArrival.store(now.nanoseconds, ordering: .relaxed)
            admitted.add(1, ordering: .relaxed)
            if isNew {
                // A frame of the previous source that is still held is obsolete.
                releaseHeldFrame()
                takingOver()
            }
            if slows { slowing() }
            let isDue =
                !waits
                || pacer.wait(until: due, on: clock) {
                    port.isAdmitting && isListening(to: port)
                }
            guard isDue else { return .refused(.notStarted) }
            return .due(due, latency.map(clock.liveTiming))
        }
    }
}

/// Holds a file's frame until it is due. Thread: any.
private final class Pacer: Sendable {
    private let waiting = Mutex<[MonotonicSignal]>([])

    /// Whether a frame is held now.
    var isHolding: Bool { waiting.withLock { !$0.isEmpty } }

    /// Blocks until `due`.
    ///
    /// - Parameter isWanted: Called again before each wait, so that a release just before the wait
    ///   is not missed.
    /// - Returns: False if the frame is no longer wanted, or ``release()`` was called first.
    func wait(until due: MediaTime, on clock: EngineClock, while isWanted: () -> Bool) -> Bool {
        while true {
            let rest = due - clock.now
            guard rest > .zero else { return true }
            let wake = MonotonicSignal()
            waiting.withLock { $0.append(wake) }
            if !isWanted() { wake.signal() }
            let isReleased = wake.wait(for: rest.duration, on: clock.timeline)
            waiting.withLock { $0.removeAll { $0 === wake } }
            if isReleased { return false }
        }
    }

    /// Wakes all waiting threads.
    func release() {
        waiting.withLock { $0 }.forEach { $0.signal() }
    }
}
