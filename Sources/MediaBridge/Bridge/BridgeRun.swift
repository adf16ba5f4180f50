internal import MediaBasics
internal import Synchronization

/// The state of one run of a bridge: whether it has ended, why, and its failures.
final class BridgeRun: Sendable {
    private struct State {
        var streams = 0
        var outputs: Int?
        var endedOutputs: Set<String> = []
        var ending: BridgeReport.End?
        var isStopRequested = false
        var failures: [PipelineError] = []
        /// The failures as they were posted, without the names of their parts.
        var posted: [PipelineError] = []
        /// The first failure of each part.
        var causes: [BridgePart: PipelineError] = [:]
        var started: ClockTime?
        var stopped: ClockTime?

        var hasFailed: Bool { !failures.isEmpty }
    }
    private let state = Mutex(State())
    let hub = EventHub<BridgeEvent>()
    private let ended = Latch()
    private let plan: BridgePlan

    init(_ plan: BridgePlan) { self.plan = plan }

    func expect(streams: Int, outputs: Int) {
        state.withLock {
            $0.streams = streams
            $0.outputs = outputs
        }
    }

    func untilEnd() async { _ = await ended.wait() }

    /// Why it ended; `nil` while it runs.
    var ending: BridgeReport.End? { state.withLock { $0.ending } }

    var failures: [PipelineError] { state.withLock { $0.failures } }

    /// Ends the run; only the first reason counts.
    func end(_ reason: BridgeReport.End) {
        state.withLock { if $0.ending == nil { $0.ending = reason } }
        ended.open()
    }

    /// Ends the run because the program asked for it.
    func stop() {
        state.withLock { $0.isStopRequested = true }
        end(.interrupt)
    }

    /// Whether ``stop()`` was called, even if the run had ended already.
    var isStopRequested: Bool { state.withLock { $0.isStopRequested } }

    /// The first failure of a part; `nil` if it has not failed.
    func failure(of part: BridgePart) -> PipelineError? { state.withLock { $0.causes[part] } }

    /// Ends the run with a failure.
    func fail(_ error: PipelineError, of part: BridgePart? = nil) {
        note(error, of: part)
        state.withLock { $0.ending = .error }
        ended.open()
    }

    /// Adds a listener, and gives it the failures so far: an element may fail when its caps are asked
    /// for, before the run. It gets each failure once.
    func listen(_ listener: @escaping @Sendable (BridgeEvent) -> Void) {
        let failures = state.withLock { state in
            hub.onEvent(listener)
            return state.failures
        }
        for failure in failures { listener(.failed(failure)) }
    }

    func notify(_ event: BridgeEvent) { hub.post(event) }

    /// Notes a failure that does not end the run by itself.
    func note(_ error: PipelineError, of part: BridgePart? = nil) {
        let named = part.map { plan.naming(error, of: $0) } ?? error
        let isOutput = if case .output = part { true } else { false }
        let listeners = state.withLock { state -> [@Sendable (BridgeEvent) -> Void] in
            if let part, state.causes[part] == nil { state.causes[part] = named }
            // A pipeline that is stuck fails every later change, too: one report is enough.
            let isKnown =
                error.code == .deadlineExceeded
                ? state.posted.contains { $0.code == .deadlineExceeded }
                // A failed capture leaves its outputs without frames.
                : state.posted.contains(error)
                    || isOutput && error.code == .noFrames && state.hasFailed
            guard !isKnown else { return [] }
            state.posted.append(error)
            state.failures.append(named)
            // A listener that comes later gets this failure from `failures`.
            return hub.listeners
        }
        for listener in listeners { listener(.failed(named)) }
    }

    /// Notes that a stream never came: a failure, unless the capture may lack the stream.
    func note(loss: PipelineError, of stream: String) {
        if plan.optionalStreams.contains(stream) {
            warn(loss)
        } else {
            note(loss, of: .stream(stream))
        }
    }

    /// Reports an error that loses nothing, unless it is a failure that was reported already.
    func warn(_ error: PipelineError) {
        if !state.withLock({ $0.posted.contains(error) }) { notify(.warned(error)) }
    }

    func streamEnded() {
        let isLast = state.withLock { state in
            state.streams -= 1
            return state.streams == 0
        }
        if isLast { end(.eos) }
    }

    /// Notes that an output has ended. The others go on; after the last one the run ends.
    func outputEnded(_ name: String, _ error: PipelineError?) {
        if let error { note(error, of: .output(name)) }
        let (isLast, failed) = state.withLock { state in
            state.endedOutputs.insert(name)
            return (state.endedOutputs.count == state.outputs, !state.failures.isEmpty)
        }
        if isLast { end(failed ? .error : .eos) }
    }

    func startClock() { state.withLock { $0.started = SharedClock.now } }

    func stopClock() { state.withLock { $0.stopped = SharedClock.now } }

    var seconds: Double {
        state.withLock { state in
            guard let started = state.started else { return 0 }
            let until = state.stopped ?? SharedClock.now
            return (MediaTime(until) - MediaTime(started)).seconds
        }
    }
}
