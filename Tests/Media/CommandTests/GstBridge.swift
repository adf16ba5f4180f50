import Foundation
import TestSupport
import Testing

/// Runs `gst-bridge` as a user would: the results are its exit status, standard output and standard
/// error.
enum GstBridge {
    /// Runs the command to its end.
    ///
    /// - Parameter deadline: When it expires, the program is killed and the call throws.
    static func run(
        _ arguments: [String], environment: [String: String] = [:],
        within deadline: Duration = .hangLimit
    ) async throws -> Ended {
        Ended(
            try await Tool.run(
                Tool.gstBridge, arguments, environment: noDisplay.merging(environment) { $1 },
                within: deadline))
    }

    /// Runs `run --report json` from a capture to outputs.
    static func run(
        capture: String, outputs: [String], _ more: [String] = [],
        within deadline: Duration = .hangLimit
    ) async throws -> Ended {
        try await run(
            arguments(capture: capture, outputs: outputs, more), within: deadline)
    }

    /// Runs `run --report json` from a capture to outputs, in parallel with `body`.
    static func start<R>(
        capture: String, outputs: [String], _ more: [String] = [],
        _ body: (ChildProcess) async throws -> R
    ) async throws -> R {
        try await withChildProcess(
            Tool.gstBridge, arguments(capture: capture, outputs: outputs, more),
            environment: noDisplay, body)
    }

    private static func arguments(
        capture: String, outputs: [String], _ more: [String]
    ) -> [String] {
        ["run", "--capture", capture] + outputs.flatMap { ["--output", $0] }
            + ["--report", "json"] + more
    }

    /// Without a display, the tests cannot record the screen of the machine they run on.
    private static let noDisplay = ["DISPLAY": ""]
}

/// The result of a run.
struct Ended: Sendable {
    /// The exit status; 128 or more after a crash.
    let status: Int32
    let output: String
    let errors: String

    init(_ result: ChildProcess.Result) {
        status = result.status
        output = result.output
        errors = result.errors
    }

    /// The report of `--report json`: the last line of standard output.
    ///
    /// - Throws: An error if the last line is not such an object.
    var report: Report {
        get throws {
            let line = try #require(output.split(separator: "\n").last, "\(errors)")
            return try JSONDecoder().decode(Report.self, from: Data(line.utf8))
        }
    }
}

/// The fields that `--report json` guarantees.
struct Report: Decodable {
    struct Counts: Decodable {
        var frames: Int
        var dropped: Int
        var bytes: Int?
        var error: String?
        var outages: Int?
        var outageSeconds: Double?
        var restarts: Int?
    }
    var captures: [String: Counts]
    var outputs: [String: Counts]
    var seconds: Double
    var ended: String
    var errors: [String]?
}

extension Report {
    /// The capture and the output of a bridge that has one of each.
    var capture: Counts { captures["video"] ?? Counts(frames: -1, dropped: -1) }
    var only: Counts { outputs["output"] ?? Counts(frames: -1, dropped: -1) }
}
