import Foundation
import TestSupport

/// The results of a run.
struct Remains: Sendable {
    enum Ending: Equatable, Sendable {
        case status(Int32)
        /// Killed at the deadline.
        case hung
    }

    var ending: Ending
    var errors: String
    /// File sizes, by name.
    var files: [String: Int]
    var directory: TemporaryDirectory
    var windows: [String]
    /// By the port in the line.
    var datagrams: [Int: DatagramWatch.Count]
    var report: Report?

    /// The output of `--report json`.
    struct Report: Decodable, Sendable {
        struct Counts: Decodable, Sendable {
            var frames: Int
            var dropped: Int
        }
        var captures: [String: Counts]
        var outputs: [String: Counts]
        var ended: String
    }

    /// The command's error on one line, or else its other output.
    var complaint: String {
        let lines = errors.split(separator: "\n").map(String.init)
        let said = lines.first {
            $0.hasPrefix("gst-bridge: ") || $0.contains("ERROR") || $0.hasPrefix("Error")
        }
        return said ?? lines.last ?? "no word"
    }
}
