import ArgumentParser
import BridgeCommands
import MediaBridge

/// The final report of a serving command, in the format of the bridge's report.
struct ServingReport: Encodable {
    struct Counts: Encodable {
        var frames: Int
        var dropped: Int
        var bytes: Int?
    }
    var captures: [String: Counts] = [:]
    var outputs: [String: Counts] = [:]
    var files: [ReportedFile]?
    var seconds: Double
    var ended: String

    /// Prints the reason for a failure, if any, and then the report.
    ///
    /// - Throws: The error that ends the command with the failure's exit status.
    func print(_ mode: ReportMode, after failure: (any Error)?) throws {
        guard failure is PipelineError || failure is EngineError, let failure else {
            print(mode)
            if let failure { throw failure }
            return
        }
        Terminal.say("\(failure)")
        print(mode)
        throw ExitCode(1)
    }

    private func print(_ mode: ReportMode) {
        switch mode {
        case .none: break
        case .json:
            if let line = try? ReportPrinter.line(of: self) { Swift.print(line) }
        case .text:
            var lines = (files ?? []).map {
                "\($0.path): \($0.frames) frames, \(Text.decimal($0.seconds, 2)) s, "
                    + Text.bytes($0.bytes)
            }
            lines += Self.lines("capture", captures) + Self.lines("output", outputs)
            lines.append("\(Text.decimal(seconds, 2)) s, ended by \(ended)")
            Terminal.write(lines.joined(separator: "\n").printable + "\n")
        }
    }

    private static func lines(_ title: String, _ counts: [String: Counts]) -> [String] {
        counts.sorted { $0.key < $1.key }.map { name, counts in
            "\(title) \(name): \(counts.frames) frames, \(counts.dropped) dropped"
                + (counts.bytes.map { ", \(Text.bytes($0))" } ?? "")
        }
    }
}

extension ServingReport.Counts {
    /// Creates the counts of frames sent to or received from other users.
    init(_ balance: FrameBalance) {
        self.init(frames: balance.delivered, dropped: balance.dropped.total)
    }
}
