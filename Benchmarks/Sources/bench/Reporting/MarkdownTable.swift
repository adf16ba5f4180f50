/// A table for an article: what each comparison's first figure is, and how many times the floor's.
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
                let value = figure.text(result.values(figure, of: index).median)
                let ratio = result.ratios(figure, of: index).median.rounded(to: 2)
                let title = index == 0 ? result.comparison.title : ""
                let isFloor = index == result.comparison.floor
                lines.append(
                    "| \(title) | \(contestant.name) | \(figure.rawValue) \(value) | "
                        + "\(isFloor ? "1" : ratio) |")
            }
        }
        text = lines.joined(separator: "\n") + "\n"
    }
}
