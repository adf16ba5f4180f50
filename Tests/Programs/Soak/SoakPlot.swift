/// The curves of all series, one above the other, with the fitted lines.
struct SoakPlot {
    let record: SoakRecord
    let verdicts: [SoakVerdict]

    private static let (width, height, margin) = (860.0, 150.0, 50.0)

    var svg: String {
        let total = Self.height * Double(verdicts.count) + 40
        var text = """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(Int(Self.width))" height="\(Int(total))" \
            font-family="sans-serif" font-size="12">
            <rect width="100%" height="100%" fill="white"/>

            """
        for (index, verdict) in verdicts.enumerated() {
            text += panel(verdict, top: Double(index) * Self.height)
        }
        let cycles = SoakVerdict.short(record.times.last ?? 0)
        text += "<text x=\"\(Self.margin)\" y=\"\(total - 12)\">0 to \(cycles) thousand cycles; "
        return text + "grey: warm-up, which the lines leave out</text>\n</svg>\n"
    }

    private func panel(_ verdict: SoakVerdict, top: Double) -> String {
        let (low, high) = (verdict.values.min() ?? 0, verdict.values.max() ?? 1)
        let span = max(high - low, 1)
        let last = max(record.times.last ?? 1, 0.001)
        let (left, right) = (Self.margin + 20, Self.width - 20)
        func x(_ time: Double) -> Double { left + time / last * (right - left) }
        func y(_ value: Double) -> Double {
            let bottom = top + Self.height - 15
            return bottom - (value - low) / span * (Self.height - 50)
        }
        let points = zip(record.times, verdict.values).map { "\(x($0)),\(y($1))" }
        let line = verdict.line
        let colour = verdict.passes ? "#2a7" : "#c22"
        let warmUp = x(record.warmUp)
        return """
            <rect x="\(left)" y="\(top + 30)" width="\(warmUp - left)" height="\(Self.height - 40)" \
            fill="#eee"/>
            <text x="\(left)" y="\(top + 22)">\(verdict.series.name): \
            \(SoakVerdict.short(line.slope)) ± \(SoakVerdict.short(2 * line.uncertainty)) \
            \(verdict.series.unit) in 1000 cycles, limit \(SoakVerdict.short(verdict.series.limit))\
            \(verdict.passes ? "" : ": GROWS")</text>
            <text x="4" y="\(y(high) + 4)">\(Int(high))</text>
            <text x="4" y="\(y(low) + 4)">\(Int(low))</text>
            <polyline points="\(points.joined(separator: " "))" fill="none" stroke="#555"/>
            <line x1="\(warmUp)" y1="\(y(line.start + line.slope * record.warmUp))" x2="\(right)" \
            y2="\(y(line.start + line.slope * last))" stroke="\(colour)" stroke-width="2"/>

            """
    }
}
