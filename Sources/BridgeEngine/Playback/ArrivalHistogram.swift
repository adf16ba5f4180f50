internal import MediaCore

/// How long after their capture the frames of a stream were ready to be played in the last seconds.
/// Older frames have a decreasing weight.
struct ArrivalHistogram {
    /// One class for every 5 ms, up to one second; longer times are in the last one.
    private var weights = [Double](repeating: 0, count: 200)
    private var last: MediaTime?
    private static let step: Int64 = 5_000_000
    /// The time after which a frame counts for a third of what it counted.
    private static let memory = 5.0
    private static let few = 3.0

    /// Whether a frame has arrived in the last seconds.
    func isRecent(at now: MediaTime) -> Bool { last.map { now - $0 < .init(seconds: 2) } ?? false }

    /// Records a frame.
    ///
    /// - Parameters:
    ///   - age: The time from its capture until now.
    ///   - now: The current running time.
    mutating func note(_ age: MediaTime, at now: MediaTime) {
        let elapsed = last.map { max(0, (now - $0).seconds) } ?? 0
        let share = 1 / (1 + elapsed / Self.memory)
        if elapsed > 0 { for place in weights.indices { weights[place] *= share } }
        last = now
        let place = Int(min(max(0, age.nanoseconds / Self.step), Int64(weights.count - 1)))
        weights[place] += 1
    }

    /// Returns the time after capture at which this fraction of the frames is ready. A few frames
    /// may always be later than that: the first ones wait for a decoder.
    func time(for share: Double) -> MediaTime {
        let all = weights.reduce(0, +)
        var rest = max(all * (1 - share), min(all / 3, Self.few))
        for place in weights.indices.reversed() {
            rest -= weights[place]
            if rest < 0 { return MediaTime(nanoseconds: Int64(place + 1) * Self.step) }
        }
        return .zero
    }
}
