import Foundation
import TestSupport

/// Changes captures in mid-stream, records them in every way and container, and compares the files with
/// the offered frames.
///
///     Properties [--cases N] [--seed S] [--from N] [--seconds N] [--sample]
///     Properties --case "push mp4 pictures=40 size@12=96x64"
///
/// Prints each case that breaks a promise, its smallest form, and how to repeat it. Exits with 1 if a
/// promise is broken.
@main
struct Properties {
    static func main() async throws {
        var arguments = Array(CommandLine.arguments.dropFirst())
        var options = PropertyRun.Options()
        var isWorker = false
        while let argument = arguments.first {
            arguments.removeFirst()
            let value = ["--worker", "--sample"].contains(argument) ? "" : arguments.first ?? ""
            switch argument {
            case "--worker": isWorker = true
            case "--sample": options.isSample = true
            case "--cases": options.cases = Int(value) ?? options.cases
            case "--seed": options.seed = UInt64(value) ?? options.seed
            case "--from": options.from = Int(value) ?? options.from
            case "--seconds": options.seconds = Double(value)
            case "--keep": options.directory = value
            case "--only": options.only = value
            case "--without": options.without = value
            case "--case":
                guard let capture = MutatedCapture(value) else {
                    complain("not a case: \(value)")
                    exit(64)
                }
                options.capture = capture
            default:
                complain("Properties [--cases N] [--seed S] [--from N] [--seconds N] [--case TEXT]")
                exit(64)
            }
            if !["--worker", "--sample"].contains(argument) {
                arguments = Array(arguments.dropFirst())
            }
        }
        if isWorker { await Worker(options).run() }
        exit(try await PropertyRun(options).run() ? 0 : 1)
    }

    /// Progress and usage messages, on standard error.
    static func complain(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }
}
