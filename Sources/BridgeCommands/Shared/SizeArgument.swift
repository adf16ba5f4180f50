internal import ArgumentParser

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
