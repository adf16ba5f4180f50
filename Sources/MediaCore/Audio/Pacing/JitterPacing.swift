/// Decides how long sound is to wait, and when it is played faster or slower to get there. Times are counted
/// in samples.
struct JitterPacing {
    private var arrivals: ArrivalWindow
    let target: Int
    /// What the latest of the last seconds is to have left.
    let reserve: Int
    /// So far off is left alone.
    private let tolerance: Int
    /// Samples that are made while one is left out, or put in; `nil` for never.
    private let length: Int?
    /// 1 while samples are left out, one at a time, -1 while they are put in.
    private var direction = 0
    /// Samples made since one began to be left out, or put in; `nil` between them.
    private var progress: Int?

    init(sampleRate: Int, target: Int, speedChange: Double) {
        arrivals = ArrivalWindow(sampleRate: sampleRate)
        self.target = target
        reserve = target / 4
        tolerance = max(1, sampleRate / 500)
        let change = min(max(0, speedChange), 0.05)
        length = change > 0 ? Int((1 / max(change, 1e-6)).rounded()) : nil
    }

    /// - Parameter earliness: How long before its place was due, without any lag, it came.
    mutating func note(_ earliness: Int, at now: Int) { arrivals.note(earliness, at: now) }

    mutating func forget() { arrivals.reset() }

    /// Whether enough came to know what comes.
    var isSettled: Bool { arrivals.isSettled }

    /// How much later than its place sound is to be played.
    ///
    /// - Parameters:
    ///   - inStep: Where it is in step with all others; `nil` where nothing is.
    ///   - longest: What waits longer than this for the sake of that is on a clock that runs away.
    func wantedLag(inStep: Int?, atMost longest: Int) -> Int {
        guard let (least, most) = arrivals.range else { return inStep ?? 0 }
        let early = inStep.map { min($0, max(target, longest) - least) }
        return max(reserve - least, early ?? target - most)
    }

    // MARK: Speed

    /// Whether a change of speed is under way.
    var isSteering: Bool { progress != nil }

    /// Begins to change the speed, where the lag is off.
    mutating func steer(_ excess: Int) {
        guard progress == nil, length != nil, isSettled else { return }
        let isWrong = excess * direction > 0 || abs(excess) > tolerance
        direction = isWrong ? excess.signum() : 0
        if direction != 0 { progress = 0 }
    }

    mutating func stopSteering() { (progress, direction) = (nil, 0) }

    /// How far behind the next sample the one to be made lies, from 0 to 1.
    var fraction: Double {
        guard let progress, let length, progress > 0 else { return 0 }
        let part = Double(progress) / Double(length)
        return direction > 0 ? part : 1 - part
    }

    /// One was made.
    ///
    /// - Returns: How many are to be taken off the queue.
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
