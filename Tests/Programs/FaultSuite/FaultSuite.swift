import Foundation
import Glibc

/// Breaks recordings in every known way, and compares the resulting files with the promises.
///
///     FaultSuite [--quick] [--seed N] [--only NAME[,NAME]] [--list]
///
/// Prints a table in Markdown. Exits with 1 if a promise is broken.
@main
struct FaultSuite {
    /// The tested containers.
    static let containers = ["mkv", "mp4", "mov", "webm", "ts"]

    static func main() async throws {
        var arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.first == "victim", arguments.count == 2 {
            try await Victim(json: arguments[1]).run()
            return
        }
        var options = Options()
        var only: Set<String> = []
        while let argument = arguments.first {
            arguments.removeFirst()
            switch argument {
            case "--quick": options.isQuick = true
            case "--seed": options.seed = UInt64(take(&arguments)) ?? options.seed
            case "--only": only = Set(take(&arguments).split(separator: ",").map(String.init))
            case "--list":
                for promise in Promise.all { print(promise.name) }
                return
            default:
                complain("FaultSuite [--quick] [--seed N] [--only NAME,NAME] [--list]")
                exit(64)
            }
        }
        let chosen = Promise.all.filter { only.isEmpty || only.contains($0.name) }
        guard !chosen.isEmpty else {
            complain("no promise of that name; --list prints all names")
            exit(64)
        }
        exit(await FaultTable(chosen, options).run() ? 0 : 1)
    }

    private static func take(_ arguments: inout [String]) -> String {
        arguments.isEmpty ? "" : arguments.removeFirst()
    }

    /// Writes to standard error: standard output carries only the table.
    static func complain(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }
}
