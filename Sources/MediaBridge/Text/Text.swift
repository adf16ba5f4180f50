/// Formats numbers for output.
package enum Text {
    /// Returns a number with so many decimals.
    package static func decimal(_ value: Double, _ places: Int) -> String {
        var scale = 1.0
        for _ in 0..<places { scale *= 10 }
        let scaled = Int((abs(value) * scale).rounded())
        let whole = String(scaled / Int(scale))
        let sign = value < 0 && scaled != 0 ? "-" : ""
        guard places > 0 else { return sign + whole }
        let fraction = String(scaled % Int(scale))
        return sign + whole + "." + String(repeating: "0", count: places - fraction.count)
            + fraction
    }

    /// Returns a size in a decimal unit: `4.0 MB`.
    package static func bytes(_ count: Int) -> String {
        switch count {
        case ..<1000: "\(count) bytes"
        case ..<1_000_000: decimal(Double(count) / 1e3, 1) + " kB"
        case ..<1_000_000_000: decimal(Double(count) / 1e6, 1) + " MB"
        default: decimal(Double(count) / 1e9, 2) + " GB"
        }
    }
}
