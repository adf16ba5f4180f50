internal import Synchronization

/// Looks whether anything moves in a bridge, and tells what does not.
final class StallWatch: Sendable {
    /// How long nothing may move before it is told. A camera that waits for light, or a host that takes
    /// its time, is mostly faster.
    static let patience = Duration.seconds(5)

    private struct State {
        var timer: Deadline?
        var moved = 0
        var isTold = false
        var isOver = false
    }
    private let state = Mutex(State())
    private let bridge: Bridge

    /// Watches until ``end()``.
    init(_ bridge: Bridge) {
        self.bridge = bridge
        arm()
    }

    func end() {
        let timer = state.withLock { state in
            state.isOver = true
            return state.timer.take()
        }
        timer?.cancel()
    }

    private func arm() {
        let timer = Deadline(after: Self.patience) { [weak self] in self?.look() }
        let isOver = state.withLock { state in
            state.timer = timer
            return state.isOver
        }
        if isOver { timer.cancel() }
    }

    private func look() {
        let moved = bridge.movement
        let isNew = state.withLock { state in
            defer { state.moved = moved }
            let stands = moved == state.moved
            defer { state.isTold = stands }
            return stands && !state.isTold && !state.isOver
        }
        if isNew, let stall = bridge.stall(after: Self.patience) {
            bridge.run.tell(.stalled(stall))
        }
        arm()
    }
}

extension Bridge {
    /// Grows with everything that passes.
    fileprivate var movement: Int {
        streams.reduce(1) { $0 + $1.branch.arrivedSamples + $1.branch.takenSamples }
            + outputs.reduce(0) { sum, output in
                output.output.branches.values.reduce(sum) { $0 + $1.writtenBuffers }
            }
    }

    /// What does not move, and what it waits for; `nil` where every stream has ended, and the outputs
    /// complete their files.
    fileprivate func stall(after time: Duration) -> PipelineError? {
        let going = streams.filter { !$0.branch.isEnded }
        guard !going.isEmpty else { return nil }
        var reasons: [String] = []
        var isApart = false
        for output in outputs where output.output.isOpen {
            let full = output.output.branches.filter { $0.value.isWaitedFor }.keys.sorted()
            let empty = going.map(\.name).filter { name in
                output.output.branches[name].map { $0.waitingBuffers == 0 } ?? false
            }
            guard !full.isEmpty else { continue }
            if empty.isEmpty {
                reasons.append("output \"\(output.name)\" takes no more of \(Self.list(full))")
            } else {
                isApart = true
                reasons.append(
                    "output \"\(output.name)\" waits for \(Self.list(empty)), while its queue of "
                        + "\(Self.list(full)) is full, so that the capture cannot go on to it")
            }
        }
        if reasons.isEmpty {
            reasons = ["the capture gives nothing of \(Self.list(going.map(\.name)))"]
        }
        return PipelineError(
            .deadlineExceeded,
            message: "nothing has moved for \(time): " + reasons.joined(separator: "; "),
            advice: isApart
                ? "the streams lie further apart than the queues: in the capture, in front of the "
                    + "appsink of the full one, queue max-size-buffers=0 max-size-time=0 "
                    + "max-size-bytes=500000000"
                : reasons.count == 1 && reasons[0].hasPrefix("the capture")
                    ? "look for a source that waits, or a tee without a queue behind each branch"
                    : "look for a disk, a display or a reader of a pipe that does not go on")
    }

    private static func list(_ names: [String]) -> String {
        names.map { "\"\($0)\"" }.joined(separator: ", ")
    }
}
