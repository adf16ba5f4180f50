/// Measures whether the times of a stream advance as its samples do.
///
/// A missing frame makes a time advance too far. A time advances too little only if the frame
/// before it was stamped late.
struct TimeEvenness {
    private var expected: MediaTime?
    /// The duration of the stream according to its samples.
    private var length = MediaTime.zero
    /// The latest times, within the last minute, that advanced too little: their position, and by
    /// how much.
    private var short: [(at: MediaTime, by: MediaTime)] = []

    /// Smaller deviations are rounding errors.
    private static let notable = MediaTime(nanoseconds: 1_500_000)
    private static let memory = MediaTime(seconds: 60)
    private static let few = 3
    private static let most = 16

    mutating func note(_ time: MediaTime, lasting duration: MediaTime) {
        length = length + duration
        defer { expected = time + duration }
        if let first = short.first, length - first.at > Self.memory { short.removeFirst() }
        guard let expected, expected - time > Self.notable else { return }
        short.append((length, expected - time))
        if short.count > Self.most { short.removeFirst() }
    }

    /// The largest deviation; `nil` if times advance evenly.
    var spread: MediaTime? {
        short.count >= Self.few ? short.map(\.by).max() : nil
    }
}
