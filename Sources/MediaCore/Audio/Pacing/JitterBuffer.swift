/// Holds one sender's sound until it is due, so that what comes late, unevenly, out of order or in large
/// pieces is played without a break.
///
/// Sound is delayed as much as the latest of the last ten seconds needed, and never by less than
/// ``Configuration/targetDelay``. The delay grows at once where nothing is left to play, and otherwise
/// changes in silence, or by playing a little faster or slower (``Configuration/speedChange``), which
/// also follows a sender whose clock runs differently. What waits no longer than the target is never
/// thrown away.
///
/// Places and times are counted in samples of each channel: `now` is the place of the next sample that
/// is taken, by the clock that takes them, and goes forward.
///
/// A value: keep one for each sender, and use it from one thread at a time.
public struct JitterBuffer: Sendable {
    public let configuration: Configuration
    private let timing: Timing
    private let channels: Int
    private let target: Int
    private let maximum: Int
    private let longestTolerance: Int
    private var queue: SampleQueue
    private var pacing: JitterPacing
    private var kernel = SincKernel()
    /// How much later than its place the next sample is played, while none is.
    private var lag = 0
    private var isPlaying = false
    /// Whether the places that the sender states have nothing to do with the clock.
    private var isFree: Bool
    /// What is added to places that the sender states: they drift where its clock does.
    private var shift = 0.0
    /// All before was played, or is not played any more; `nil` before the first.
    private var passed: Int?
    /// The first piece of those that wait, and the longest since.
    private var first = 0
    private var longest = 0
    private var tally = Counts()

    /// How long the piece that came last had to wait; in samples, below zero where it was late.
    public private(set) var wait = 0

    /// - Parameters:
    ///   - sampleRate: Hz.
    ///   - timing: Who asks for samples.
    public init(
        sampleRate: Int, channels: Int, timing: Timing,
        configuration: Configuration = Configuration()
    ) {
        let format = AudioFormat(.f32le, sampleRate: max(1, sampleRate), channels: 1)
        self.configuration = configuration
        self.timing = timing
        self.channels = max(1, channels)
        maximum = max(1, format.samples(in: MediaTime(configuration.maximumDelay)))
        target = min(max(0, format.samples(in: MediaTime(configuration.targetDelay))), maximum)
        longestTolerance = format.samples(in: MediaTime(nanoseconds: 8_000_000))
        isFree = timing == .demand
        queue = SampleQueue(channels: self.channels)
        pacing = JitterPacing(
            sampleRate: format.sampleRate, target: target, speedChange: configuration.speedChange)
    }

    /// What became of all samples so far.
    public var counts: Counts {
        var counts = tally
        counts.waiting = queue.waiting
        return counts
    }

    /// Whether nothing waits.
    public var isEmpty: Bool { queue.isEmpty }

    /// How much later than its place sound is to be played, as far as is known.
    private var wantedLag: Int {
        pacing.wantedLag(inStep: isFree ? nil : -Int(shift.rounded()), atMost: maximum / 2)
    }

    // MARK: In

    /// Takes a piece.
    ///
    /// - Parameters:
    ///   - samples: Interleaved.
    ///   - stated: The place of its first sample, as the sender says. What begins within half of its
    ///     length, or 8 ms, of the end of what came before follows that.
    public mutating func add(_ samples: Span<Float>, at stated: Int, now: Int) {
        let length = samples.count / channels
        guard length > 0 else { return }
        tally.received += length
        // Nothing that a sender says overflows.
        let place = place(of: min(max(stated, -Self.farthest), Self.farthest), length)
        pacing.note(place - now, at: now)
        if queue.isEmpty, !isPlaying { begin(at: place, length, now) }
        wait = place + (isPlaying ? now - queue.start : lag) - now
        longest = max(longest, length)
        let late = min(length, max(0, (isPlaying ? queue.start : passed ?? place) - place))
        tally.dropped.late += late
        guard late < length else { return }
        let fresh = samples.withUnsafeBufferPointer { samples in
            let rest = UnsafeBufferPointer(
                rebasing: samples[(late * channels)..<(length * channels)])
            return queue.insert(rest, at: place + late)
        }
        tally.dropped.duplicate += length - late - fresh
        guard makeRoom() else { return }
        // What was known of its delay is not true any more.
        pacing.forget()
        pacing.note(place - now, at: now)
    }

    private static let farthest = 1 << 60

    /// Where a piece belongs, by what is known of those before it.
    private mutating func place(of stated: Int, _ length: Int) -> Int {
        guard passed != nil else { return stated }
        let (place, end) = (stated + Int(shift.rounded()), queue.end)
        if abs(place - end) <= min(length / 2, longestTolerance) {
            shift += (Double(end - stated) - shift) / 8
            return end
        }
        // Neither missing nor late: another beginning.
        guard abs(place - end) > max(maximum, 2 * max(longest, length)) else { return place }
        if queue.isEmpty {
            (passed, shift, isPlaying) = (nil, 0, false)
            isFree = timing == .demand
            pacing.forget()
            return stated
        }
        (shift, isFree) = (Double(end - stated), true)
        return end
    }

    /// Nothing waits and nothing is played: when a piece is played is to be decided.
    private mutating func begin(at place: Int, _ length: Int, _ now: Int) {
        if passed.map({ place >= $0 }) ?? true {
            queue.restart(at: place)
            passed = passed ?? place
        }
        (first, longest) = (length, 0)
        let earliness = place - now
        if !isFree, earliness - Int(shift.rounded()) > maximum { isFree = true }
        lag = wantedLag
        // Who is late may be later.
        let margin = isFree ? target : target / 2
        if earliness + lag < pacing.reserve + 1 || isFree { lag = max(lag, margin - earliness) }
    }

    /// Lets the oldest go where too much waits.
    ///
    /// - Returns: Whether it did.
    private mutating func makeRoom() -> Bool {
        guard queue.count > max(maximum, target + 2 * longest) else { return false }
        let excess = queue.count - target - (longest > maximum / 2 ? longest : 0)
        tally.dropped.overflow += queue.take(excess)
        passed = queue.start
        if !isPlaying { lag -= excess }
        return true
    }

    /// Nobody listens any more: what waits is dropped.
    public mutating func abandon() {
        tally.dropped.abandoned += queue.take(queue.count)
        (isPlaying, passed) = (false, queue.start)
        pacing.stopSteering()
    }

    // MARK: Out

    /// Adds the next samples to a mix, as far as they are due.
    ///
    /// - Parameters:
    ///   - count: Samples of each channel; the mix has room for them, interleaved.
    ///   - now: The place of the mix's first sample.
    /// - Returns: Whether there was anything to be heard.
    public mutating func take(_ count: Int, at now: Int, into mix: inout [Float]) -> Bool {
        if queue.isEmpty {
            if isPlaying { ranDry(now, missing: count) }
            return false
        }
        var offset = 0
        if !isPlaying {
            if timing == .demand {
                // All that is to wait is there.
                let rest = max(0, target - (queue.count - first))
                lag = min(lag, now + rest - queue.start)
            }
            offset = queue.start + lag - now
            guard offset < count else { return false }
            offset = max(0, offset)
            isPlaying = true
        } else if adjustSilence(count, now) {
            return true
        }
        while offset < count, !queue.isEmpty {
            pacing.steer(now + offset - queue.start - wantedLag)
            offset += make(count - offset, &mix, at: offset)
        }
        passed = queue.start
        if offset < count { ranDry(now + offset, missing: count - offset) }
        return true
    }

    /// - Returns: How many samples were made.
    private mutating func make(_ most: Int, _ mix: inout [Float], at offset: Int) -> Int {
        let (made, taken): (Int, Int)
        if pacing.isSteering {
            let fraction = pacing.fraction
            (made, taken) = (1, pacing.advance())
            if fraction > 0 {
                kernel.move(to: fraction)
                queue.addBetween(kernel, to: &mix, at: offset)
            } else {
                queue.add(1, to: &mix, at: offset)
            }
        } else {
            made = min(most, queue.count)
            taken = made
            queue.add(made, to: &mix, at: offset)
        }
        let places = min(taken, queue.count)
        let there = queue.take(places)
        tally.played += there
        tally.missing += places - there
        return made
    }

    private mutating func ranDry(_ now: Int, missing: Int) {
        (isPlaying, passed, lag) = (false, queue.start, now - queue.start)
        pacing.stopSteering()
        tally.underruns += 1
        tally.missing += missing
    }

    /// Makes silence shorter or longer, where that helps.
    ///
    /// - Returns: Whether the silence that it puts in is all there is now.
    private mutating func adjustSilence(_ count: Int, _ now: Int) -> Bool {
        guard configuration.adjustsSilence, pacing.isSettled, !pacing.isSteering else {
            return false
        }
        let excess = now - queue.start - wantedLag
        guard abs(excess) >= count, queue.isQuiet(count, below: Self.silence) else { return false }
        if excess < 0 {
            tally.lengthenedSilence += count
            return true
        }
        if queue.count >= 2 * count { tally.dropped.silence += queue.take(count) }
        return false
    }

    private static let silence: Float = 0.001
}
