/// A table for an article: each comparison's first figure, and its ratio to the floor.
struct MarkdownTable {
    let text: String

    init(_ machine: Machine, _ results: [Comparison.Result]) {
        var lines = [
            "Measured with `make bench` on \(machine).", "",
            "| | | | of the floor |", "|---|---|---:|---:|",
        ]
        for result in results {
            for (index, contestant) in result.contestants.enumerated() {
                let figure = result.comparison.figures[0]
                let value =
                    result.comparison.floor == nil
                    ? Self.allFigures(of: index, in: result)
                    : "\(figure.rawValue) \(figure.text(result.values(figure, of: index).median))"
                let ratio = result.ratios(figure, of: index).median.rounded(to: 2)
                let title = index == 0 ? result.comparison.title : ""
                let isFloor = index == result.comparison.floor
                lines.append(
                    "| \(title) | \(contestant.name) | \(value) | "
                        + "\(isFloor ? "1" : ratio) |")
            }
        }
        text = lines.joined(separator: "\n") + "\n"
    }

    /// All figures of a contestant in a comparison without a floor.
    private static func allFigures(of index: Int, in result: Comparison.Result) -> String {
        result.comparison.figures.map { ($0, result.values($0, of: index).median) }
            .filter { $0.1.isFinite }.map { "\($0.rawValue) \($0.text($1))" }
            .joined(separator: ", ")
    }
}
