import BenchmarkSupport
import Foundation

/// The figures of one case.
struct ResultTable: CustomStringConvertible {
    let description: String

    /// - Parameter runs: For each contestant, its runs in the order of the rounds.
    init(_ benchmark: BenchmarkCase, runs: [[Usage]], frames: Int) {
        let baseline = runs[benchmark.baseline]
        var lines = [
            Self.line(
                benchmark.title,
                ["CPU s", "user", "sys", "wall s", "µs/frame", "ratio to C", "min", "max"])
        ]
        for (contestant, runs) in zip(benchmark.contestants, runs) {
            let cpu = runs.map(\.cpu).median
            let ratios = zip(runs, baseline).map { $0.cpu / $1.cpu }
            lines.append(
                Self.line(
                    "  " + contestant.name,
                    [
                        cpu, runs.map(\.user).median, runs.map(\.system).median,
                        runs.map(\.wall).median, cpu / Double(frames) * 1e6, ratios.median,
                        ratios.min() ?? 0, ratios.max() ?? 0,
                    ].map { String(format: "%.2f", $0) }))
        }
        description = lines.joined(separator: "\n")
    }

    private static func line(_ name: String, _ cells: [String]) -> String {
        func pad(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }
        return name + pad(46 - name.count) + cells.map { pad(11 - $0.count) + $0 }.joined()
    }
}
