import ArgumentParser
import Foundation

/// Splits published gst-launch lines as users would, and compares the results of gst-bridge with those
/// of gst-launch-1.0 for the whole line.
@main
struct Wild: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "Wild",
        abstract: "Runs gst-launch lines from the wild whole, and cut in two around gst-bridge.",
        discussion: """
            Each entry of Tests/Programs/Wild/Corpus is a published line. gst-launch-1.0 runs it whole in one \
            directory, gst-bridge runs it cut in another, and tools that share no code with either compare \
            what is left: ffprobe the files, xev the windows, a socket the datagrams.

            An entry is right where both left the same. It is refused fairly where the entry says why it \
            cannot work, and gst-bridge ends with 1 or 64 and names what the entry says it must. Everything \
            else is wrong, and wrong without a word where gst-bridge ended with 0, crashed or hung, unless the \
            entry says why it differs.

            Ends with 0 where at least 95 of 100 entries that gst-launch-1.0 runs are right, and none is wrong \
            without a word.
            """)

    @Option(help: "Entries to run, by id, with commas between them.")
    var only: String?

    @Option(help: "The family to run: a file of the corpus, without .yaml.")
    var family: String?

    @Option(help: "Run only this many lines of each family, none with windows or live sources.")
    var sample: Int?

    @Flag(help: "Lists ids and lines, and runs nothing.")
    var list = false

    @Option(help: "Keeps what the runs left behind in this directory.")
    var keep: String?

    @Option(help: "How many entries run at the same time.")
    var jobs = 2

    @Option(help: "The gst-bridge to run; by default the one beside this program.")
    var bridge: String?

    func validate() throws {
        guard jobs > 0 else { throw ValidationError("--jobs needs a number above 0") }
    }

    func run() async throws {
        let corpus = try Corpus()
        let entries = try corpus.chosen(
            only: only?.split(separator: ",").map(String.init), family: family, sample: sample)
        if list {
            for entry in entries {
                let line = entry.line.replacing("\\\n", with: " ").replacing("\n", with: " ")
                print("\(entry.family)  \(entry.id)  \(line)")
            }
            return
        }
        let table = try Table(
            entries, bridge: bridge ?? Self.bridgeBeside(), jobs: jobs, keep: keep)
        if try await !table.run() { throw ExitCode(1) }
    }

    private static func bridgeBeside() throws -> String {
        let here = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return (here as NSString).deletingLastPathComponent + "/gst-bridge"
    }
}
