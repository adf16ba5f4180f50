/// Computes the wanted delay of audio, and when it is played faster or slower to reach that delay.
/// All times are in samples.
struct JitterPacing {
    private var arrivals: ArrivalWindow
    let target: Int
    /// How long the latest audio of the last seconds must still be queued before it is played.
    let reserve: Int
    /// A deviation up to this size is not corrected.
    private let tolerance: Int
    /// How many samples are produced while one is skipped or inserted; `nil` if the speed is never
    /// changed.
    private let length: Int?
    /// 1 while samples are skipped, one at a time, and -1 while they are inserted.
    private var direction = 0
    /// How many samples were produced since the present skip or insertion began; `nil` between
    /// them.
    private var progress: Int?

    init(sampleRate: Int, target: Int, speedChange: Double) {
        arrivals = ArrivalWindow(sampleRate: sampleRate)
        self.target = target
        reserve = target / 4
        tolerance = max(1, sampleRate / 500)
        let change = min(max(0, speedChange), 0.05)
        length = change > 0 ? Int((1 / max(change, 1e-6)).rounded()) : nil
    }

    /// Records an arrival.
    ///
    /// - Parameter earliness: How long before its position was due, without any lag, the audio
    ///   arrived.
    mutating func note(_ earliness: Int, at now: Int) { arrivals.note(earliness, at: now) }

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
        guard progress == nil, length != nil, isSettled else { return }
        let isWrong = excess * direction > 0 || abs(excess) > tolerance
        direction = isWrong ? excess.signum() : 0
        if direction != 0 { progress = 0 }
    }

    mutating func stopSteering() { (progress, direction) = (nil, 0) }

    /// The offset of the sample to be produced from the next queued one towards the one after it,
    /// from 0 to 1.
    var fraction: Double {
        guard let progress, let length, progress > 0 else { return 0 }
        let part = Double(progress) / Double(length)
        return direction > 0 ? part : 1 - part
    }

    /// Records that one sample was produced.
    ///
    /// - Returns: How many samples to remove from the queue.
    mutating func advance() -> Int {
        guard let done = progress, let length else { return 1 }
        let isFirst = done == 0
        progress = done + 1
        if direction < 0, isFirst { return 0 }
        guard done + 1 >= length else { return 1 }
        progress = nil
        return direction > 0 ? 2 : 1
    }
}
