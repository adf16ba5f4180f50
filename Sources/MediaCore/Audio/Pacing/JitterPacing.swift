/// Computes the wanted delay of audio, and when it is played faster or slower to reach that delay.
/// All times are in samples.
struct JitterPacing {
    private var arrivals: ArrivalWindow
    private let leastTarget: Int
    /// The target for the expected jitter; zero if the jitter is unknown.
    private(set) var expected = 0
    var target: Int { max(leastTarget, expected) }
    /// How long the latest audio of the last seconds must still be queued before it is played.
    var reserve: Int { target / 4 }
    /// A deviation up to this size is not corrected.
    private let tolerance: Int
    /// A deviation above this size is corrected ten times as fast.
    private let far: Int
    /// How much faster or slower audio is played; zero if the speed is never changed.
    private let change: Double
    /// How many samples are produced while the present one is skipped or inserted.
    private var length = 1
    /// 1 while samples are skipped, one at a time, and -1 while they are inserted.
    private var direction = 0
    /// How many samples were produced since the present skip or insertion began; `nil` between
    /// them.
    private var progress: Int?

    init(sampleRate: Int, target: Int, speedChange: Double) {
        arrivals = ArrivalWindow(sampleRate: sampleRate)
        leastTarget = target
        tolerance = max(1, sampleRate / 500)
        far = max(1, sampleRate / 50)
        change = min(max(0, speedChange), Self.mostChange)
    }

    /// Records an arrival.
    ///
    /// - Parameter earliness: How long before its position was due, without any lag, the audio
    ///   arrived.
    mutating func note(_ earliness: Int, at now: Int) { arrivals.note(earliness, at: now) }

    /// Makes the target three times the jitter: as wide as delays that are evenly distributed.
    mutating func expect(jitter: Int, atMost most: Int) {
        expected = min(max(0, jitter) * 3, max(0, most))
    }

    mutating func forget() { arrivals.reset() }

    /// Whether there were enough arrivals for a reliable estimate.
    var isSettled: Bool { arrivals.isSettled }

    /// Returns how much later than its own position audio is to be played.
    ///
    /// - Parameters:
    ///   - inStep: The lag at which playback is in sync with all other senders; `nil` if there is
    ///     no common clock.
    ///   - longest: If staying in sync would delay even the latest audio by more than this (or the
    ///     target, if larger), the sender's clock is treated as running away, and the lag is
    ///     limited.
    func wantedLag(inStep: Int?, atMost longest: Int) -> Int {
        guard let (least, most) = arrivals.range else { return inStep ?? 0 }
        let early = inStep.map { min($0, max(target, longest) - least) }
        return max(reserve - least, early ?? target - most)
    }

    // MARK: Speed

    /// Whether a sample is being skipped or inserted.
    var isSteering: Bool { progress != nil }

    /// Begins to skip or insert a sample if the lag deviates too far.
    ///
    /// - Parameter excess: The present lag minus the wanted one.
    mutating func steer(_ excess: Int) {
        guard progress == nil, change > 0, isSettled else { return }
        let isWrong = excess * direction > 0 || abs(excess) > tolerance
        direction = isWrong ? excess.signum() : 0
        guard direction != 0 else { return }
        progress = 0
        let change = abs(excess) > far ? min(self.change * 10, Self.mostChange) : self.change
        length = Int((1 / max(change, 1e-6)).rounded())
    }

    private static let mostChange = 0.05

    mutating func stopSteering() { (progress, direction) = (nil, 0) }

    /// Samples that are produced at a changed speed.
    struct Run {
        /// The number of samples that are produced.
        var made: Int
        /// The number of samples that are then removed from the queue.
        var taken: Int
        /// The position of the first one, counted from the next queued sample: from 0 to 1.
        var start: Double
        /// The distance from each one to the next, in queued samples.
        var step: Double
    }

    /// Records that the next samples of a skip or insertion were produced.
    ///
    /// - Parameters:
    ///   - most: The number of samples wanted.
    ///   - queued: The number of samples in the queue.
    /// - Returns: What to produce, at most to the end of the skip or insertion; `nil` if there is
    ///   none.
    mutating func advance(_ most: Int, queued: Int) -> Run? {
        guard let done = progress else { return nil }
        // While a sample is inserted, the first one that is produced takes none from the queue.
        let isHeldBack = direction < 0 && done == 0
        let made = min(most, length - done, isHeldBack ? queued + 1 : queued)
        let isLast = done + made >= length
        progress = isLast ? nil : done + made
        let (part, change) = (Double(done) / Double(length), 1 / Double(length))
        return Run(
            made: made, taken: made - (isHeldBack ? 1 : 0) + (direction > 0 && isLast ? 1 : 0),
            start: direction > 0 ? part : isHeldBack ? 0 : 1 - part,
            step: direction > 0 ? 1 + change : 1 - change)
    }
}

/// Keeps the smallest and the largest earliness of audio that arrived in the last ten seconds. All
/// times are in samples.
private struct ArrivalWindow {
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
