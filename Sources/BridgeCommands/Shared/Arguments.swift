internal import ArgumentParser
package import MediaBridge

/// A duration: `10s`, `500ms`, `2m`, `1h`; a number without a unit is in seconds.
package struct DurationArgument: ExpressibleByArgument {
    package let value: Duration

    package init?(argument: String) {
        let number = argument.prefix { $0.isNumber || $0 == "." }
        guard let amount = Double(number), amount > 0, amount.isFinite else { return nil }
        let scale: Double
        switch argument.dropFirst(number.count) {
        case "ms": scale = 0.001
        case "s", "": scale = 1
        case "m", "min": scale = 60
        case "h": scale = 3600
        default: return nil
        }
        guard amount * scale < 1e9 else { return nil }
        value = .seconds(amount * scale)
    }
}

/// Parses `--output [NAME=]STRING`.
package enum OutputArgument {
    /// A name is a word before the first equals sign, with nothing else before it: `file=filesink
    /// location=a` has one, `filesink location=a` has none.
    package static func parse(_ text: String, among others: [BridgePlan.Named]) -> BridgePlan.Named
    {
        if let equals = text.firstIndex(of: "="), let first = text.first, first.isLetter,
            text[..<equals].allSatisfy({ $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" })
        {
            return BridgePlan.Named(
                name: String(text[..<equals]), text: String(text[text.index(after: equals)...]))
        }
        var index = 0
        while others.contains(where: { $0.name == BridgePlan.outputName(index) }) { index += 1 }
        return BridgePlan.Named(name: BridgePlan.outputName(index), text: text)
    }
}

/// A number with an optional decimal unit: `800k`, `4M`, `2G`.
package struct SizeArgument: ExpressibleByArgument {
    package let value: Int

    package init?(argument: String) {
        let units: [Character: Double] = ["k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12]
        var digits = argument[...]
        if digits.hasSuffix("B") { digits = digits.dropLast() }
        var factor = 1.0
        if let last = digits.last, let unit = units[last] {
            factor = unit
            digits = digits.dropLast()
        }
        guard let number = Double(digits), number.isFinite, number >= 0,
            let value = Int(exactly: (number * factor).rounded())
        else { return nil }
        self.value = value
    }
}
