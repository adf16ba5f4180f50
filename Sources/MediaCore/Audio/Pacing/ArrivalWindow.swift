/// Keeps the smallest and the largest earliness of audio that arrived in the last ten seconds. All
/// times are in samples.
struct ArrivalWindow {
    private struct Second {
        let number: Int
        var least: Int
        var most: Int
    }
    private var seconds: [Second] = []
    private let sampleRate: Int
    private static let length = 10
    /// The number of seconds with arrivals after which the range is reliable.
    private static let few = 3

    init(sampleRate: Int) { self.sampleRate = max(1, sampleRate) }

    /// Records an arrival.
    ///
    /// - Parameters:
    ///   - earliness: How long before its earliest possible playout the audio arrived; negative if
    ///     it was late.
    ///   - now: When it arrived.
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

    /// The smallest and the largest earliness in the window; `nil` if nothing has arrived.
    var range: (least: Int, most: Int)? {
        guard let first = seconds.first else { return nil }
        return seconds.reduce((first.least, first.most)) {
            (min($0.0, $1.least), max($0.1, $1.most))
        }
    }
    var isSettled: Bool { seconds.count >= Self.few }
}
