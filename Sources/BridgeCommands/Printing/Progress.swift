internal import ArgumentParser
internal import MediaBridge

package enum ProgressMode: String, ExpressibleByArgument, CaseIterable {
    case auto, always, never
}

/// Prints the progress of a bridge: on a terminal one line that is overwritten, otherwise one line
/// per second.
struct Progress {
    private let task: Task<Void, Never>?
    private let isTerminal = Terminal.isInteractive

    init(of bridge: Bridge, mode: ProgressMode) {
        let isTerminal = Terminal.isInteractive
        guard mode == .always || mode == .auto && isTerminal else {
            task = nil
            return
        }
        let interval = isTerminal ? Duration.milliseconds(250) : .seconds(1)
        task = Task {
            var last = (frames: 0, seconds: 0.0)
            while (try? await Task.sleep(for: interval)) != nil {
                let now = bridge.statistics
                let line = Self.line(now, since: &last) + Self.disk(bridge.recorders)
                Terminal.write(isTerminal ? "\r\u{1B}[K\(line)" : line + "\n")
            }
        }
    }

    func end() async {
        guard let task else { return }
        task.cancel()
        await task.value
        if isTerminal { Terminal.write("\r\u{1B}[K") }
    }

    /// Returns the write rate of each recording, and the space that is left for it.
    private static func disk(_ recorders: [Recorder]) -> String {
        recorders.map(\.progress).map { progress in
            "  \(Text.bytes(Int(progress.bytesPerSecond)))/s"
                + (progress.freeBytes.map { "  \(Text.bytes($0)) free" } ?? "")
        }.joined()
    }

    private static func line(
        _ report: BridgeReport, since last: inout (frames: Int, seconds: Double)
    ) -> String {
        let frames = (report.captures["video"] ?? report.captures.values.first)?.frames ?? 0
        let elapsed = report.seconds - last.seconds
        let rate = elapsed > 0 ? Double(frames - last.frames) / elapsed : 0
        last = (frames, report.seconds)
        let drops = (Array(report.captures.values) + Array(report.outputs.values))
            .reduce(0) { $0 + $1.dropped.total }
        let bytes = report.outputs.values.compactMap(\.bytes).reduce(0, +)
        return "\(frames) frames  \(Text.decimal(rate, 1)) fps  \(drops) dropped  "
            + "\(Text.decimal(report.seconds, 1)) s  \(Text.bytes(bytes))"
    }
}
