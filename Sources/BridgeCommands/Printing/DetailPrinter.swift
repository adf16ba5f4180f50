internal import Dispatch
internal import MediaBridge
internal import Synchronization

/// Prints the messages of a running bridge on a separate queue, because streaming threads must not
/// wait for a terminal.
final class DetailPrinter: Sendable {
    private let queue = DispatchQueue(label: "gst-bridge.details")
    private let state = Mutex(State())

    private struct State {
        var waiting = 0
        var leftOut = 0
        /// The number of occurrences of each warning.
        var warnings: [String: Int] = [:]
    }

    /// The maximum number of queued lines, so that a blocked terminal does not use up all memory.
    private static let depth = 10_000

    /// Prints a line, with characters that control the terminal escaped.
    func show(_ text: String) { write { Terminal.write(text.printable + "\n") } }

    /// Prints an error. Errors are few, and are never dropped.
    func complain(_ error: PipelineError) { queue.async { Terminal.complain(error) } }

    /// Prints news of the run. They are few, and are never dropped.
    func announce(_ text: String) { queue.async { Terminal.say(text) } }

    /// Prints a warning the first time it occurs, and counts repetitions.
    func warn(_ warning: PipelineError) {
        let text = "\(warning)"
        let isNew = state.withLock { state in
            state.warnings[text, default: 0] += 1
            return state.warnings[text] == 1
        }
        if isNew { write { Terminal.say("warning: \(text)") } }
    }

    private func write(_ body: @escaping @Sendable () -> Void) {
        let hasRoom = state.withLock { state in
            guard state.waiting < Self.depth else {
                state.leftOut += 1
                return false
            }
            state.waiting += 1
            return true
        }
        guard hasRoom else { return }
        queue.async { [self] in
            body()
            state.withLock { $0.waiting -= 1 }
        }
    }

    /// Waits until all lines are written, then prints how often warnings were repeated and how many
    /// lines were dropped.
    func end() async {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume() }
        }
        let (leftOut, warnings) = state.withLock { ($0.leftOut, $0.warnings) }
        for (text, count) in warnings.sorted(by: { $0.key < $1.key }) where count > 1 {
            Terminal.say("warning, \(count) times in total: \(text)")
        }
        if leftOut > 0 {
            Terminal.say("\(leftOut) lines were dropped: standard error was too slow")
        }
    }
}
