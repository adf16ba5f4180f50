import BridgeCommands
import Synchronization

/// A line of progress while a command serves: overwritten on a terminal, otherwise one each second.
struct ServingProgress {
    private let task: Task<Void, Never>?
    private let isTerminal = Terminal.isInteractive

    init(_ mode: ProgressMode, _ line: @escaping @Sendable () async -> String) {
        let isTerminal = Terminal.isInteractive
        guard mode == .always || mode == .auto && isTerminal else {
            task = nil
            return
        }
        task = Task {
            while (try? await Task.sleep(for: .seconds(1))) != nil {
                let text = await line()
                Terminal.write(isTerminal ? "\r\u{1B}[K\(text.printable)" : text.printable + "\n")
            }
        }
    }

    func end() async {
        guard let task else { return }
        task.cancel()
        await task.value
        if isTerminal { Terminal.write("\r\u{1B}[K") }
    }
}

/// How fast a count grows from one look at it to the next.
final class RateOfCount: Sendable {
    private let last = Mutex<(count: Int, time: ContinuousClock.Instant)?>(nil)

    /// - Returns: The growth a second since the call before; zero at the first one.
    func note(_ count: Int) -> Double {
        let now = ContinuousClock.now
        return last.withLock { last in
            defer { last = (count, now) }
            guard let last, now > last.time else { return 0 }
            return max(0, Double(count - last.count)) / ((now - last.time) / .seconds(1))
        }
    }
}
