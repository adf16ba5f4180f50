internal import MediaBasics
internal import Synchronization

/// Checks whether data moves in a bridge, and reports what does not.
final class BridgeStallWatch: Sendable {
    /// Time without movement after which a stall is reported. A camera that waits for light, or a
    /// slow host, usually delivers sooner.
    static let stallTimeout = Duration.seconds(5)

    /// Time without movement after which a stream is given up.
    static let waitLimit = MediaTime(stallTimeout * 2)

    private struct State {
        var heartbeat: Heartbeat?
        var all = StallWatch()
        var outputs: [String: StallWatch] = [:]
    }
    private let state = Mutex(State())
    private let bridge: Bridge

    /// Starts watching, until ``end()``.
    init(_ bridge: Bridge) {
        self.bridge = bridge
        let queue = SerialQueue(label: "mediabridge.bridge.stalls")
        let heartbeat = Heartbeat(every: Self.stallTimeout, on: queue) { [weak self] in
            self?.look()
        }
        state.withLock { $0.heartbeat = heartbeat }
    }

    func end() { state.withLock { $0.heartbeat.take() }?.cancel() }

    private func look() {
        let moved = bridge.movement
        let (isNew, stands, isOver) = state.withLock { state in
            (state.all.look(count: moved) == .stalled, state.all.isStalled, state.heartbeat == nil)
        }
        guard !isOver else { return }
        bridge.restarts.forEach { $0.check() }
        if stands, let limit = bridge.limitReachedByClock() { bridge.run.end(limit) }
        if let limit = bridge.limits.giveUpIfNothingMoved() { bridge.run.end(limit) }
        if stands, !isNew { bridge.endDeadCaptures(after: Self.stallTimeout * 2) }
        // A restart is reported by a separate event.
        if isNew, !bridge.restarts.contains(where: \.isDown),
            let stall = bridge.stall(after: Self.stallTimeout)
        {
            bridge.run.notify(.stalled(stall))
        }
        // An output of a live capture may stall while everything else continues, because its oldest
        // frames are evicted and the capture goes on.
        if !stands { bridge.outputs.forEach { checkProgress(of: $0) } }
    }

    private func checkProgress(of output: BridgeOutput) {
        let (moved, hasWaiting) = (output.movement, output.hasWaiting)
        let change = state.withLock { state in
            state.outputs[output.name, default: StallWatch()]
                .look(count: moved, isWaiting: hasWaiting)
        }
        if change == .stalled {
            bridge.run.notify(.stalled(output.stall(after: Self.stallTimeout)))
        }
    }
}

extension BridgeOutput {
    /// A count that grows with every buffer that passes.
    fileprivate var movement: Int {
        output.branches.values.reduce(1) { $0 + $1.writtenBuffers + $1.departedBuffers }
    }

    fileprivate var hasWaiting: Bool {
        output.isOpen && output.branches.values.contains { $0.waitingBuffers > 0 }
    }

    fileprivate func stall(after time: Duration) -> PipelineError {
        let waiting = output.branches.filter { $0.value.waitingBuffers > 0 }.keys.sorted()
        let standstill = Standstill(of: output.pipeline)
        return PipelineError(
            .deadlineExceeded,
            message: "nothing has moved for \(time) in output \"\(name)\", which accepts no more "
                + "of \(Bridge.list(waiting))\(standstill.inBrackets), while the capture continues",
            advice: standstill.advice ?? Bridge.outputAdvice)
    }
}

extension Standstill {
    /// The reasons in brackets, to be appended to a sentence.
    var inBrackets: String {
        reasons.isEmpty ? "" : " (\(reasons.joined(separator: "; ")))"
    }
}

extension Bridge {
    /// A count that grows with every buffer that passes.
    fileprivate var movement: Int {
        streams.reduce(1) { $0 + $1.branch.arrivedSamples + $1.branch.translation.takenSamples }
            + outputs.reduce(0) { sum, output in
                output.output.branches.values.reduce(sum) { $0 + $1.writtenBuffers }
            }
    }

    /// Returns the limit if live captures that deliver nothing should have reached it by now.
    fileprivate func limitReachedByClock() -> BridgeReport.End? {
        let down = restarts.filter(\.isDown).map(\.capture)
        guard
            captures.allSatisfy({ capture in
                capture.isLive == true || down.contains { $0 === capture }
            })
        else { return nil }
        return limits.reachedByClock(MediaTime(seconds: run.seconds))
    }

    /// Returns an error that says what does not move and what it waits for; `nil` if every stream
    /// has ended and the outputs are completing their files.
    fileprivate func stall(after time: Duration) -> PipelineError? {
        let going = streams.filter { !$0.branch.isEnded }
        guard !going.isEmpty else { return nil }
        var reasons: [String] = []
        var advice: String?
        for output in outputs where output.output.isOpen {
            let full = output.output.branches.filter { $0.value.gate.isWaitedFor }.keys.sorted()
            let empty = going.map(\.name).filter { name in
                output.output.branches[name].map { $0.waitingBuffers == 0 } ?? false
            }
            guard !full.isEmpty else { continue }
            let standstill = Standstill(of: output.output.pipeline)
            if empty.isEmpty {
                reasons.append(
                    "output \"\(output.name)\" accepts no more of \(Self.list(full))"
                        + standstill.inBrackets)
                advice = advice ?? standstill.advice
            } else {
                advice =
                    "put queue max-size-buffers=0 max-size-time=0 max-size-bytes=500000000 into "
                    + "the capture, before the appsink of the stream whose queue is full: the "
                    + "streams are further apart in time than the queues can hold"
                reasons.append(
                    "output \"\(output.name)\" waits for \(Self.list(empty)), while its queue of "
                        + "\(Self.list(full)) is full, so the capture cannot continue"
                        + standstill.inBrackets)
            }
        }
        if reasons.isEmpty {
            let standing = captures.map { capture in
                let starving = going.filter { $0.belongs(to: capture) }.map(\.branch.sink.element)
                return starving.isEmpty
                    ? nil : Standstill(of: capture.pipeline, starving: starving)
            }.compactMap { $0 }
            reasons = [
                "the capture produces nothing for \(Self.list(going.map(\.name)))"
                    + standing.map(\.inBrackets).joined()
            ]
            advice =
                standing.lazy.compactMap(\.advice).first
                ?? "look for a source that waits, or a tee without a queue in each branch"
        }
        return PipelineError(
            .deadlineExceeded,
            message: "nothing has moved for \(time): " + reasons.joined(separator: "; "),
            advice: advice ?? Self.outputAdvice)
    }

    /// Ends the streams of captures whose threads have all paused without data, end or error: these
    /// captures would never end. A damaged file has this effect on decodebin about once in a
    /// hundred runs: it drops the error of a demuxer that fails while it is being added.
    fileprivate func endDeadCaptures(after time: Duration) {
        for capture in captures
        where capture.isLive != true && capture.pipeline.hasOnlyPausedTasks {
            for stream in streams where stream.belongs(to: capture) && !stream.branch.isEnded {
                let element = stream.branch.sink.element.name
                stream.branch.end(
                    losing: PipelineError(
                        .streamFailed,
                        message: "the capture produces nothing more for \"\(stream.name)\": "
                            + "nothing has moved for \(time), all of its threads have paused, and "
                            + "no end of stream and no error has reached \(element)",
                        advice: "check the file with gst-discoverer-1.0: it may be damaged; or "
                            + "look for an element that drops the end of the stream"))
            }
        }
    }

    fileprivate static let outputAdvice =
        "look for a disk, a display or the reader of a pipe that is stuck"

    static func list(_ names: [String]) -> String {
        names.map { "\"\($0)\"" }.joined(separator: ", ")
    }
}
