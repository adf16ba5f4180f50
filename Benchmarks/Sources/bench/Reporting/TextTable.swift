/// The figures of one comparison for a terminal.
struct TextTable: CustomStringConvertible {
    let description: String

    init(_ result: Comparison.Result) {
        let comparison = result.comparison
        var header = [comparison.title + ", \(comparison.pieces) \(comparison.piece)s"]
        for (place, figure) in comparison.figures.enumerated() {
            header.append(figure.rawValue)
            guard comparison.floor != nil else { continue }
            if place == 0 { header += ["ratio", "(min–max)"] } else { header.append("ratio") }
        }
        if !result.counts.isEmpty { header += ["instructions", "allocations"] }
        header.append("limits")
        var rows = [header]
        for (index, contestant) in result.contestants.enumerated() {
            let mark = index == comparison.floor ? "*" : " "
            var row = [" \(mark)\(contestant.name)"]
            for (place, figure) in comparison.figures.enumerated() {
                row.append(figure.text(result.values(figure, of: index).median))
                guard comparison.floor != nil else { continue }
                let ratios = result.ratios(figure, of: index)
                row.append(ratios.median.rounded(to: 2))
                guard place == 0 else { continue }
                let (least, most) = (ratios.min() ?? .nan, ratios.max() ?? .nan)
                row.append("(\(least.rounded(to: 2))–\(most.rounded(to: 2)))")
            }
            if !result.counts.isEmpty {
                let counts = result.counts[index]
                row.append(counts?.instructions?.rounded(to: 0) ?? "-")
                row.append(counts?.allocations.rounded(to: 2) ?? "-")
            }
            row.append(
                result.limits(of: index).map { limit in
                    limit.text + (result.holds(limit, of: index) ? " ✓" : " ✗")
                }.joined(separator: ", "))
            rows.append(row)
        }
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        description =
            rows.map { row in
                row.enumerated().map { column, cell in
                    let pad = String(repeating: " ", count: widths[column] - cell.count)
                    let isText = column == 0 || column == row.count - 1
                    return isText ? cell + pad : pad + cell
                }.joined(separator: "  ")
            }.joined(separator: "\n") + "\n"
            + result.missing.map { "  left out: \($0)\n" }.joined()
    }
}

extension Comparison.Result {
    /// The violated limits, as text.
    var missedLimits: [String] {
        contestants.enumerated().flatMap { index, contestant in
            limits(of: index).filter { !holds($0, of: index) }.map { limit in
                let value = limit.figure.text(values(limit.figure, of: index).median)
                let ratio = ratios(limit.figure, of: index).median
                return "\(comparison.name): \(contestant.name): \(limit.text), is \(value)"
                    + (ratio.isNaN ? "" : ", \(ratio.rounded(to: 2)) ×")
            }
        }
    }
}
