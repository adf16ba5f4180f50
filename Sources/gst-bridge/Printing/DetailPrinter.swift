import Dispatch
import MediaBridge
import Synchronization

/// Prints what a bridge tells while it runs, on a thread of its own: streaming threads must not wait for a
/// terminal.
final class DetailPrinter: Sendable {
    private let queue = DispatchQueue(label: "gst-bridge.details")
    private let state = Mutex(State())

    private struct State {
        var waiting = 0
        var leftOut = 0
        /// How often each warning came.
        var warnings: [String: Int] = [:]
    }

    /// Lines that may wait; a terminal that stands still must not cost all memory.
    private static let depth = 10_000

    /// A line as it is, but for what would steer the terminal.
    func show(_ text: String) { write { Terminal.write(text.printable + "\n") } }

    /// Complaints are few, and never left out.
    func complain(_ error: PipelineError) { queue.async { Terminal.complain(error) } }

    /// The same warning of an element is told once, and counted.
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

    /// Waits until all is written, and tells what was not.
    func end() async {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume() }
        }
        let (leftOut, warnings) = state.withLock { ($0.leftOut, $0.warnings) }
        for (text, count) in warnings.sorted(by: { $0.key < $1.key }) where count > 1 {
            Terminal.say("warning, \(count) times in all: \(text)")
        }
        if leftOut > 0 {
            Terminal.say("\(leftOut) lines were left out: standard error was too slow")
        }
    }
}
