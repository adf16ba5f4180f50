internal import MediaBasics
internal import Synchronization

/// The state of one run of a bridge: whether it has ended, why, and its failures.
final class BridgeRun: Sendable {
    private struct State {
        var streams = 0
        var outputs: Int?
        var endedOutputs: Set<String> = []
        var ending: BridgeReport.End?
        var isStopAsked = false
        var failures: [PipelineError] = []
        var started: ClockTime?
        var stopped: ClockTime?
        var listeners: [@Sendable (BridgeEvent) -> Void] = []
    }
    private let state = Mutex(State())
    private let ended = Latch()

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
        state.withLock { $0.isStopAsked = true }
        end(.interrupt)
    }

    /// Whether ``stop()`` was called, even if the run had ended already.
    var isStopAsked: Bool { state.withLock { $0.isStopAsked } }

    /// Ends the run with a failure.
    func fail(_ error: PipelineError) {
        note(error)
        state.withLock { $0.ending = .error }
        ended.open()
    }

    func listen(_ listener: @escaping @Sendable (BridgeEvent) -> Void) {
        state.withLock { $0.listeners.append(listener) }
    }

    func tell(_ event: BridgeEvent) {
        for listener in state.withLock({ $0.listeners }) { listener(event) }
    }

    /// Notes a failure that does not end the run by itself.
    func note(_ error: PipelineError) {
        let isNews = state.withLock { state in
            // A pipeline that is stuck fails every later change, too: one report is enough.
            let isKnown =
                error.code == .deadlineExceeded
                ? state.failures.contains { $0.code == .deadlineExceeded }
                : state.failures.contains(error)
            if !isKnown { state.failures.append(error) }
            return !isKnown
        }
        if isNews { tell(.failed(error)) }
    }

    /// Reports an error that loses nothing, unless it is a failure that was reported already.
    func warn(_ error: PipelineError) {
        if !state.withLock({ $0.failures.contains(error) }) { tell(.warned(error)) }
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
        if let error { note(error) }
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
