/// Whether the times of a stream go forward as its samples say.
///
/// A frame that is missing makes a time go too far forward; too little it goes where the one before came late.
struct TimeEvenness {
    private var expected: MediaTime?
    /// How long the stream is by its samples.
    private var length = MediaTime.zero
    /// Of the last minute, times that went forward by too little, and by how much: the latest of them.
    private var short: [(at: MediaTime, by: MediaTime)] = []

    /// By less, times are rounded.
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

    /// By how much times are off at the most; `nil` where they go forward evenly.
    var spread: MediaTime? {
        short.count >= Self.few ? short.map(\.by).max() : nil
    }
}
