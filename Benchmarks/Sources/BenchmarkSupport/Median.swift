extension [Double] {
    /// Zero of nothing.
    public var median: Double {
        guard !isEmpty else { return 0 }
        let sorted = sorted()
        return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
    }

    /// The value that this share of all does not exceed; zero of nothing.
    public func quantile(_ share: Double) -> Double {
        guard !isEmpty else { return 0 }
        let place = Int((Double(count) * share).rounded(.up)) - 1
        return sorted()[Swift.min(Swift.max(place, 0), count - 1)]
    }
}
