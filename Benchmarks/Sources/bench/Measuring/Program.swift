import Foundation

/// Runs programs, and measures their cost.
enum Program {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs a program to its end.
    ///
    /// - Parameters:
    ///   - output: A file for its standard output; `nil` discards it.
    ///   - errors: A file for its standard error; `nil` inherits this program's.
    /// - Throws: ``Failure`` if the program cannot start or does not succeed: failed work yields no figure.
    static func run(
        _ program: String, _ arguments: [String], output: String? = nil, errors: String? = nil
    ) throws -> Run {
        let figures = NSTemporaryDirectory() + "mediabridge-bench-run-\(getpid())"
        defer { try? FileManager.default.removeItem(atPath: figures) }
        let process = Process()
        process.executableURL = Places.products.appending(path: "measure")
        process.arguments = [figures, program] + arguments
        process.standardOutput = try file(output ?? "/dev/null")
        if let errors { process.standardError = try file(errors) }
        try process.run()
        process.waitUntilExit()
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            throw Failure(
                description: "failed with \(process.terminationStatus): \(program) "
                    + arguments.joined(separator: " "))
        }
        let values = try String(contentsOfFile: figures, encoding: .utf8)
            .split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        guard values.count == 5 else { throw Failure(description: "\(program) was not measured") }
        return Run(
            user: values[0], system: values[1], wall: values[2], peakKilobytes: Int(values[3]),
            switches: Int(values[4]))
    }

    /// The last line of a file; `nil` if it has none.
    static func lastLine(of path: String) -> String? {
        (try? String(contentsOfFile: path, encoding: .utf8))?.split(separator: "\n").last
            .map(String.init)
    }

    private static func file(_ path: String) throws -> FileHandle {
        let isThere =
            path == "/dev/null" || FileManager.default.createFile(atPath: path, contents: nil)
        guard isThere, let file = FileHandle(forWritingAtPath: path) else {
            throw Failure(description: "\(path) cannot be written")
        }
        return file
    }

    /// Whether a command succeeds.
    static func succeeds(_ words: [String]) -> Bool { refusal(words) == nil }

    /// Runs a command.
    ///
    /// - Returns: At most one line of the command's error output if it fails; otherwise `nil`.
    static func refusal(_ words: [String]) -> String? {
        let errors = NSTemporaryDirectory() + "mediabridge-bench-errors-\(getpid())"
        defer { try? FileManager.default.removeItem(atPath: errors) }
        do {
            _ = try run(words[0], Array(words.dropFirst()), errors: errors)
            return nil
        } catch {
            return lastLine(of: errors) ?? "\(error)"
        }
    }
}

/// The cost of one run of a program, with times in seconds.
struct Run: Codable {
    var user: Double
    var system: Double
    var wall: Double
    /// Peak resident memory.
    var peakKilobytes: Int
    /// Context switches, voluntary and involuntary.
    var switches: Int
    /// The 50th, 95th, 99th and 99.9th percentile of the times that the program measured and printed.
    var percentiles: [Double]?
    /// The shares of a core that the program measured and printed, by role.
    var loads: [String: Double]?
}
