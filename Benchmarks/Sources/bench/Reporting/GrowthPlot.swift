import Foundation

/// The cost of a frame as receivers, engines or users are added, as an SVG with one chart for each.
struct GrowthPlot {
    let text: String

    private static let (width, height, margin) = (420.0, 260.0, 56.0)
    private static let colours = ["#d9480f", "#1864ab", "#2b8a3e", "#862e9c"]

    init(_ results: [Comparison.Result]) {
        let plots = Dictionary(grouping: results.filter { $0.comparison.growth != nil }) {
            $0.comparison.growth?.plot ?? ""
        }.sorted { $0.key < $1.key }
        let body = plots.enumerated().map { place, plot in
            let y = Double(place) * (Self.height + Self.margin)
            return "<g transform=\"translate(0 \(y))\">\(Self.picture(plot.key, plot.value))</g>"
        }.joined(separator: "\n")
        let total = Double(max(plots.count, 1)) * (Self.height + Self.margin)
        text = """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.width + 200) \(total)" \
            font-family="sans-serif" font-size="12">
            <rect width="100%" height="100%" fill="white"/>
            \(body)
            </svg>

            """
    }

    private static func picture(_ title: String, _ results: [Comparison.Result]) -> String {
        let sorted = results.sorted { count(of: $0) < count(of: $1) }
        let values = sorted.map { result in
            result.contestants.indices.map { result.values(.cpu, of: $0).median * 1e6 }
        }
        let most = values.joined().filter(\.isFinite).max() ?? 1
        func x(_ count: Int) -> Double {
            let last = sorted.last.map(count(of:)) ?? 1
            return margin + (width - 2 * margin) * Double(count) / Double(max(last, 1))
        }
        func y(_ value: Double) -> Double { height - (height - margin) * value / most }
        var lines = [
            "<text x=\"\(margin)\" y=\"20\">CPU for each frame by number of \(title), µs</text>",
            "<path d=\"M\(margin) \(height - (height - margin)) V\(height) H\(width - margin)\" "
                + "fill=\"none\" stroke=\"black\"/>",
            "<text x=\"\(margin - 6)\" y=\"\(y(most) + 4)\" text-anchor=\"end\">"
                + "\(most.rounded(to: 1))</text>",
            "<text x=\"\(margin - 6)\" y=\"\(height)\" text-anchor=\"end\">0</text>",
        ]
        for result in sorted {
            let count = count(of: result)
            lines.append(
                "<text x=\"\(x(count))\" y=\"\(height + 16)\" text-anchor=\"middle\">\(count)</text>"
            )
        }
        for (place, contestant) in (sorted.first?.contestants ?? []).enumerated() {
            let colour = colours[place % colours.count]
            let points = zip(sorted, values).filter { $1.indices.contains(place) }
                .map { "\(x(count(of: $0))),\(y($1[place]))" }
            lines.append(
                "<polyline points=\"\(points.joined(separator: " "))\" fill=\"none\" "
                    + "stroke=\"\(colour)\" stroke-width=\"2\"/>")
            lines.append(
                "<text x=\"\(width - margin + 8)\" y=\"\(60 + 18 * place)\" fill=\"\(colour)\">"
                    + "\(contestant.name)</text>")
        }
        return lines.joined(separator: "\n")
    }

    private static func count(of result: Comparison.Result) -> Int {
        result.comparison.growth?.count ?? 0
    }
}
