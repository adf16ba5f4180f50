import Foundation

/// All samples, and the verdicts on them.
struct SoakRecord {
    /// In thousands of cycles, because the number of cycles per minute depends on the machine.
    private(set) var times: [Double] = []
    private(set) var samples: [SoakSample] = []

    mutating func add(_ sample: SoakSample, after cycles: Int) {
        times.append(Double(cycles) / 1000)
        samples.append(sample)
    }

    /// A CSV table with a line for each sample.
    var table: String {
        let head = ["cycles"] + SoakSeries.all.map(\.name)
        let lines = zip(times, samples).map { time, sample in
            ([time * 1000] + SoakSeries.all.map { $0.value(sample) })
                .map { "\(Int($0))" }.joined(separator: ",")
        }
        return ([head.joined(separator: ",")] + lines).joined(separator: "\n") + "\n"
    }

    /// The end of the warm-up: a quarter of the run, and at most ten thousand cycles.
    var warmUp: Double { min((times.last ?? 0) / 4, 10) }

    var verdicts: [SoakVerdict] {
        let from = times.firstIndex { $0 >= warmUp } ?? 0
        return SoakSeries.all.map { series in
            let values = samples.map(series.value)
            let line = FittedLine(Array(times[from...]), Array(values[from...]))
            return SoakVerdict(
                series: series, values: values, line: line, span: (times.last ?? 0) - warmUp)
        }
    }
}

/// A least-squares line.
struct FittedLine {
    var slope = 0.0
    var start = 0.0
    /// The standard error of the slope.
    var uncertainty = 0.0

    init(_ x: [Double], _ y: [Double]) {
        let count = Double(x.count)
        guard x.count > 2 else { return }
        let (middle, mean) = (x.reduce(0, +) / count, y.reduce(0, +) / count)
        let spread = x.reduce(0) { $0 + ($1 - middle) * ($1 - middle) }
        guard spread > 0 else { return }
        slope = zip(x, y).reduce(0) { $0 + ($1.0 - middle) * ($1.1 - mean) } / spread
        start = mean - slope * middle
        let rest = zip(x, y).reduce(0) { sum, point in
            let distance = point.1 - start - slope * point.0
            return sum + distance * distance
        }
        uncertainty = (rest / (count - 2) / spread).squareRoot()
    }
}

/// Whether a series grows.
struct SoakVerdict: CustomStringConvertible {
    let series: SoakSeries
    let values: [Double]
    let line: FittedLine
    /// Thousands of cycles after the warm-up.
    let span: Double

    var passes: Bool {
        (line.slope - 2 * line.uncertainty) * span <= series.limit * span + series.slack
    }

    var description: String {
        let name = series.name.padding(toLength: 12, withPad: " ", startingAt: 0)
        let unit = series.unit.isEmpty ? "" : " \(series.unit)"
        return "\(passes ? "ok    " : "GROWS ") \(name) \(sketch)  "
            + "\(Int(values.first ?? 0)) … \(Int(values.last ?? 0))\(unit), "
            + "\(Self.short(line.slope)) ± \(Self.short(2 * line.uncertainty))\(unit) in 1000 cycles "
            + "(limit \(Self.short(series.limit)), and \(Int(series.slack)) in all)"
    }

    /// The curve as a row of block characters.
    private var sketch: String {
        let blocks = Array("▁▂▃▄▅▆▇█")
        let width = min(40, values.count)
        guard width > 0, let low = values.min(), let high = values.max() else { return "" }
        return String(
            (0..<width).map { column in
                let value = values[column * values.count / width]
                return blocks[high > low ? Int((value - low) / (high - low) * 7.99) : 0]
            })
    }

    static func short(_ value: Double) -> String {
        let tenths = (abs(value) * 10).rounded()
        let text = "\(Int(tenths) / 10).\(Int(tenths) % 10)"
        return value < 0 && tenths > 0 ? "-\(text)" : text
    }
}
