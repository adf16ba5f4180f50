internal import ArgumentParser

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
