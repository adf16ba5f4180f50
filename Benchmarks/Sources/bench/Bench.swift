// Measures the cost of MediaBridge against C, gst-launch-1.0, Python and OpenCV.
//
// Each contestant runs the same work in a separate process. The kernel's figures for the whole process count:
// they include start-up, GStreamer's own work and thread wake-ups, for every contestant. A ratio is taken
// within one round; the result is the median of the ratios over all rounds. Absolute figures depend on the
// machine, most of all on its cost of waking a thread.
import ArgumentParser
import Foundation

@main
struct Bench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "What MediaBridge costs, beside C, gst-launch-1.0, Python and OpenCV.")

    @Flag(help: "All sizes and rates, and instructions and allocations for each frame.")
    var full = false

    @Option(help: "Rounds that count.")
    var rounds = 5

    @Option(help: "A workload, or the beginning of a comparison's name; may be repeated.")
    var only: [String] = []

    @Flag(help: "Prints the names of all comparisons.")
    var list = false

    @Option(help: ArgumentHelp("A file for every figure of every run.", valueName: "file"))
    var json: String?

    @Option(help: ArgumentHelp("A file for the table in Markdown.", valueName: "file"))
    var markdown: String?

    @Option(help: ArgumentHelp("A file for the plot of growth.", valueName: "file"))
    var svg: String?

    func validate() throws {
        guard rounds > 0 else { throw ValidationError("--rounds takes a number from 1 on") }
    }

    func run() throws {
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "mediabridge-bench-\(getpid())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let chosen = comparisons(in: Media(directory: directory))
        guard !chosen.isEmpty else { throw ValidationError("no comparison is called that") }
        if list { return chosen.forEach { print("\($0.name)  \($0.title)") } }
        let machine = try Machine.current()
        print("\(machine)\n\(rounds) rounds; limits and ratios are to the line marked with *\n")
        var results: [Comparison.Result] = []
        for comparison in chosen {
            var result = try comparison.measure(rounds: rounds, in: directory)
            if full, comparison.isCounted, let floor = comparison.floor {
                for index in [0, floor] {
                    result.counts[index] = try Counts.measure(
                        { comparison.contestants($0)[index] }, in: directory)
                }
            }
            print(TextTable(result))
            results.append(result)
        }
        let missed = results.flatMap(\.missedLimits)
        let isWhole = results.allSatisfy(\.missing.isEmpty)
        let kept = isWhole ? "Every limit is kept." : "Every limit that was measured is kept."
        print(missed.isEmpty ? kept : "Missed:")
        missed.forEach { print("  \($0)") }
        if let json { try JSONReport(machine, rounds, results).write(to: json) }
        if let markdown { try MarkdownTable(machine, results).text.write(toFile: markdown) }
        if let svg { try GrowthPlot(results).text.write(toFile: svg) }
    }

    private func comparisons(in media: Media) -> [Comparison] {
        workloads.flatMap { workload in
            let all = workload.comparisons(isFull: full, in: media)
            let isWhole = only.isEmpty || only.contains(workload.name)
            return all.filter { comparison in
                isWhole || only.contains { comparison.name.hasPrefix($0) }
            }
        }
    }
}

extension String {
    fileprivate func write(toFile path: String) throws {
        try write(toFile: path, atomically: true, encoding: .utf8)
    }
}
