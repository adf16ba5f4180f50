// Durations and sizes: as text, and in nanoseconds.

extension Duration {
    /// The duration in nanoseconds, truncated. A value that does not fit is clamped.
    package var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, beyond) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflow || beyond ? (seconds < 0 ? .min : .max) : sum
    }

    /// Parses `10s`, `500ms`, `2m`, `1h` or `7d`; a number without a unit is in seconds. `nil` for
    /// anything else, and for a duration that is not positive.
    ///
    /// - Parameter allowsZero: Whether `0` and `0s` are durations, too.
    package init?(text: String, allowsZero: Bool = false) {
        let number = text.prefix { $0.isNumber || $0 == "." }
        guard let amount = Double(number), amount > 0 || allowsZero, amount.isFinite else {
            return nil
        }
        let scale: Double
        switch text.dropFirst(number.count) {
        case "ms": scale = 0.001
        case "s", "": scale = 1
        case "m", "min": scale = 60
        case "h": scale = 3600
        case "d": scale = 86_400
        default: return nil
        }
        guard amount * scale < 1e9 else { return nil }
        self = .seconds(amount * scale)
    }
}

extension Int {
    /// Parses a number with an optional decimal unit: `800k`, `4M`, `2GB`. `nil` for anything else, and for a
    /// negative number.
    package init?(size text: String) {
        let units: [Character: Double] = ["k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12]
        var digits = text[...]
        if digits.hasSuffix("B") { digits = digits.dropLast() }
        var factor = 1.0
        if let last = digits.last, let unit = units[last] {
            factor = unit
            digits = digits.dropLast()
        }
        guard let number = Double(digits), number.isFinite, number >= 0,
            let value = Int(exactly: (number * factor).rounded())
        else { return nil }
        self = value
    }
}
