internal import ArgumentParser
internal import Glibc
internal import MediaBasics
package import MediaBridge
internal import Synchronization

/// Writes progress and errors to standard error. Standard output is reserved for reports.
package enum Terminal {
    /// The name of the program, in front of messages.
    static let program = Mutex("gst-bridge")

    package static var isInteractive: Bool { isatty(STDERR_FILENO) != 0 }

    package static func write(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes {
                Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count)
            }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }

    package static func log(_ error: PipelineError) { log("\(error)") }

    /// Prints one message. Text from elsewhere in it cannot control the terminal.
    package static func log(_ text: String) {
        write("\(program.withLock { $0 }): \(text.printable)\n")
    }
}

// MARK: Details

/// Prints the messages of a running bridge on a separate queue, because streaming threads must not
/// wait for a terminal.
final class DetailPrinter: Sendable {
    private let queue = SerialQueue(label: "gst-bridge.details")
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
    func log(_ error: PipelineError) { queue.async { Terminal.log(error) } }

    /// Prints news of the run. They are few, and are never dropped.
    func announce(_ text: String) { queue.async { Terminal.log(text) } }

    /// Prints a warning the first time it occurs, and counts repetitions.
    func warn(_ warning: PipelineError) {
        let text = "\(warning)"
        let isNew = state.withLock { state in
            state.warnings[text, default: 0] += 1
            return state.warnings[text] == 1
        }
        if isNew { write { Terminal.log("warning: \(text)") } }
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
        await queue.value {}
        let (leftOut, warnings) = state.withLock { ($0.leftOut, $0.warnings) }
        for (text, count) in warnings.sorted(by: { $0.key < $1.key }) where count > 1 {
            Terminal.log("warning, \(count) times in total: \(text)")
        }
        if leftOut > 0 {
            Terminal.log("\(leftOut) lines were dropped: standard error was too slow")
        }
    }
}

// MARK: Progress

package enum ProgressMode: String, ExpressibleByArgument, CaseIterable {
    case auto, always, never
}

/// Prints a progress line at an interval. On a terminal, each line overwrites the previous one.
package struct Progress {
    private let task: Task<Void, Never>?
    private let isTerminal = Terminal.isInteractive

    /// - Parameters:
    ///   - interval: The interval on a terminal; otherwise it is a second. Default: a second.
    ///   - line: Returns the line.
    package init(
        _ mode: ProgressMode, interval: Duration = .seconds(1),
        _ line: @escaping @Sendable () async -> String
    ) {
        let isTerminal = isTerminal
        guard mode == .always || mode == .auto && isTerminal else {
            task = nil
            return
        }
        task = Task {
            while (try? await Task.sleep(for: isTerminal ? interval : .seconds(1))) != nil {
                let text = await line().printable
                Terminal.write(isTerminal ? "\r\u{1B}[K\(text)" : text + "\n")
            }
        }
    }

    package func end() async {
        guard let task else { return }
        task.cancel()
        await task.value
        if isTerminal { Terminal.write("\r\u{1B}[K") }
    }
}

extension Progress {
    init(of bridge: Bridge, mode: ProgressMode) {
        let rate = RateOfCount()
        self.init(mode, interval: .milliseconds(250)) {
            Self.line(bridge.statistics, rate) + Self.disk(bridge.recorders)
        }
    }

    /// Returns the write rate of each recording, and the space that is left for it.
    private static func disk(_ recorders: [Recorder]) -> String {
        recorders.map { recorder in
            "  \(Text.bytes(Int(recorder.bytesPerSecond)))/s"
                + (recorder.freeBytes.map { "  \(Text.bytes($0)) free" } ?? "")
        }.joined()
    }

    private static func line(_ report: BridgeReport, _ rate: RateOfCount) -> String {
        let frames = (report.captures["video"] ?? report.captures.values.first)?.frames ?? 0
        let drops = (Array(report.captures.values) + Array(report.outputs.values))
            .reduce(0) { $0 + $1.dropped.total }
        let bytes = report.outputs.values.compactMap(\.bytes).reduce(0, +)
        return "\(frames) frames  \(Text.decimal(rate.note(frames), 1)) fps  \(drops) dropped  "
            + "\(Text.decimal(report.seconds, 1)) s  \(Text.bytes(bytes))"
    }
}

/// Measures how fast a count grows between two calls. Thread: any.
package final class RateOfCount: Sendable {
    private let last = Mutex((count: 0, time: ContinuousClock.now))

    package init() {}

    /// - Returns: The growth per second since the previous call or the creation.
    package func note(_ count: Int) -> Double {
        let now = ContinuousClock.now
        return last.withLock { last in
            defer { last = (count, now) }
            guard now > last.time else { return 0 }
            return max(0, Double(count - last.count)) / ((now - last.time) / .seconds(1))
        }
    }
}

// MARK: Recordings

/// Prints the events of a recording.
package enum RecordingNews {
    package static func notify(_ event: RecorderEvent) {
        switch event {
        case .fileStarted(let path, .started), .fileStarted(let path, .segment):
            Terminal.log("recording \(path)")
        case .fileStarted(let path, .formatChanged):
            Terminal.log("the video changed its size or format: recording \(path)")
        case .fileStarted(let path, .streamAppeared):
            Terminal.log("another stream appeared: recording \(path)")
        case .fileRemoved(let path): Terminal.log("removed \(path)")
        case .marked(let path, let mark):
            let seconds = Text.decimal(MediaTime(mark.time).seconds, 2)
            Terminal.log("marked \"\(mark.name)\" at \(seconds) s in \(path)")
        case .paused: Terminal.log("paused")
        case .resumed: Terminal.log("resumed")
        case .orientationLost(let path):
            Terminal.log(
                "warning: players do not rotate the video in \(path): only .mp4 stores its "
                    + "orientation. Try: record to .mp4, or put decodebin at the end of the capture"
            )
        case .streamMissing(let name):
            Terminal.log("the stream \(name) delivers nothing: recording without it")
        case .warning(let error): Terminal.log("warning: \(error)")
        case .keyFrameAwaited:
            Terminal.log("waiting for a key frame: the video before it cannot be decoded")
        case .diskNearlyFull(let free):
            Terminal.log("the disk is nearly full: \(Text.bytes(free)) left")
        case .stalled(let time):
            Terminal.log("the disk does not respond: nothing was written for \(time)")
        default: break
        }
    }
}
