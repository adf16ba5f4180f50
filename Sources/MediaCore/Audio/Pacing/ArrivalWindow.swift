/// How early, at the least and at the most, sound came in the last ten seconds. Times are counted in samples.
struct ArrivalWindow {
    private struct Second {
        let number: Int
        var least: Int
        var most: Int
    }
    private var seconds: [Second] = []
    private let sampleRate: Int
    private static let length = 10
    /// After so many something is known.
    private static let few = 3

    init(sampleRate: Int) { self.sampleRate = max(1, sampleRate) }

    /// - Parameters:
    ///   - earliness: How long before it could be played at the earliest.
    ///   - now: When it came.
    mutating func note(_ earliness: Int, at now: Int) {
        let number = now / sampleRate
        seconds.removeAll { $0.number <= number - Self.length || $0.number > number }
        guard let last = seconds.indices.last, seconds[last].number == number else {
            return seconds.append(Second(number: number, least: earliness, most: earliness))
        }
        seconds[last].least = min(seconds[last].least, earliness)
        seconds[last].most = max(seconds[last].most, earliness)
    }

    mutating func reset() { seconds = [] }

    /// `nil` before anything came.
    var range: (least: Int, most: Int)? {
        guard let first = seconds.first else { return nil }
        return seconds.reduce((first.least, first.most)) {
            (min($0.0, $1.least), max($0.1, $1.most))
        }
    }
    var isSettled: Bool { seconds.count >= Self.few }
}
