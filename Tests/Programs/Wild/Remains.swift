import Foundation
import TestSupport

/// What a run left behind.
struct Remains: Sendable {
    enum Ending: Equatable, Sendable {
        case status(Int32)
        /// It was killed at the deadline.
        case hung
    }

    var ending: Ending
    var errors: String
    /// Sizes, by name.
    var files: [String: Int]
    var directory: TemporaryDirectory
    var windows: [String]
    /// By port, as the line names it.
    var datagrams: [Int: DatagramWatch.Count]
    var report: Report?

    /// What `--report json` says.
    struct Report: Decodable, Sendable {
        struct Counts: Decodable, Sendable {
            var frames: Int
            var dropped: Int
        }
        var captures: [String: Counts]
        var outputs: [String: Counts]
        var ended: String
    }

    /// The command's complaint, on one line, or what it said at all.
    var complaint: String {
        let lines = errors.split(separator: "\n").map(String.init)
        let said = lines.first {
            $0.hasPrefix("gst-bridge: ") || $0.contains("ERROR") || $0.hasPrefix("Error")
        }
        return said ?? lines.last ?? "no word"
    }
}
