/// Queues one sender's audio until it is due, so that audio that arrives late, unevenly, out of
/// order or in large pieces is played without interruption.
///
/// The delay is what the latest audio of the last ten seconds needed, and never less than
/// ``JitterBufferConfiguration/targetDelay``. It grows at once if the queue runs empty. Otherwise it changes
/// during silence, or by playing slightly faster or slower (``JitterBufferConfiguration/speedChange``), which
/// also follows a sender whose clock runs at a different rate. Audio that has been queued no longer
/// than the target is never dropped.
package struct JitterBuffer: Sendable {
    // Positions and times are counted in samples of each channel: `now` is the position of the next sample that is
    // taken, by the clock of the consumer, and only increases.

    /// The configuration that this buffer was created with.
    package let configuration: JitterBufferConfiguration
    private let timing: Timing
    private let channels: Int
    private let maximum: Int
    private let longestTolerance: Int
    private var queue: SampleQueue
    private var pacing: JitterPacing
    /// By how many samples playback is later than the sample's own position. Valid only while
    /// nothing is playing.
    private var lag = 0
    private var isPlaying = false
    /// Whether the positions that the sender states are unrelated to the consumer's clock.
    private var isFree: Bool
    /// The offset added to the positions that the sender states. It follows the drift of the
    /// sender's clock.
    private var shift = 0.0
    /// The position before which all samples were played or skipped; `nil` before the first piece.
    private var passed: Int?
    /// The lengths of the first queued piece, and of the longest since.
    private var first = 0
    private var longest = 0
    private var tally = JitterBufferCounts()
    /// How much later than its own position audio is to be played, to be in step with other media.
    private var step = 0

    /// How long the latest piece waits before it is played, in samples; negative if it arrived
    /// late.
    package private(set) var wait = 0

    package init(
        sampleRate: Int, channels: Int, timing: Timing,
        configuration: JitterBufferConfiguration = JitterBufferConfiguration()
    ) {
        let format = AudioFormat(.f32le, sampleRate: max(1, sampleRate), channels: 1)
        self.configuration = configuration
        self.timing = timing
        self.channels = max(1, channels)
        maximum = max(1, format.sampleCount(in: MediaTime(configuration.maximumDelay)))
        let target = min(
            max(0, format.sampleCount(in: MediaTime(configuration.targetDelay))), maximum)
        longestTolerance = format.sampleCount(in: MediaTime(nanoseconds: 8_000_000))
        isFree = timing == .demand
        queue = SampleQueue(channels: self.channels)
        pacing = JitterPacing(
            sampleRate: format.sampleRate, target: target, speedChange: configuration.speedChange)
    }

    /// The outcome of all samples so far.
    package var counts: JitterBufferCounts {
        var counts = tally
        counts.waiting = queue.waiting
        return counts
    }

    /// How much later than its own position audio is played, in samples; what was played last if
    /// nothing is playing. `nil` before anything was played, and if the positions that the sender
    /// states are unrelated to the consumer's clock.
    ///
    /// - Parameter now: The position of the next sample that is taken.
    package func lag(at now: Int) -> Int? {
        guard passed != nil, !isFree else { return nil }
        return (isPlaying ? now - queue.start : lag) + Int(shift.rounded())
    }

    /// Whether no samples are queued.
    package var isEmpty: Bool { queue.isEmpty }

    /// The wanted difference between playback and the audio's own position, in samples, from the
    /// arrivals known so far.
    private var wantedLag: Int {
        pacing.wantedLag(inStep: isFree ? nil : step - Int(shift.rounded()), atMost: maximum / 2)
    }

    private var target: Int { pacing.target }

    // MARK: What others know

    /// Sets how unevenly audio is expected to arrive, as a transport measures it (RFC 3550, section
    /// 6.4.1): the delay is then at least three times as much, and at most
    /// ``JitterBufferConfiguration/maximumDelay``. Takes effect with the next wait: at the beginning, after audio
    /// ran out, or as the delay is changed during playback.
    ///
    /// - Parameter jitter: The mean deviation; zero for that of ``JitterBufferConfiguration/targetDelay``.
    package mutating func expect(jitter: Int) {
        pacing.expect(jitter: min(jitter, maximum), atMost: maximum)
    }

    /// Sets how much later than its own position audio is to be played, so that it stays in step with
    /// the sender's pictures. What arrives later is delayed longer. Has no effect with
    /// ``Timing/demand``.
    ///
    /// - Parameter lag: In samples, from 0 to half of ``JitterBufferConfiguration/maximumDelay``.
    package mutating func keepStep(lag: Int) { step = min(max(0, lag), maximum / 2) }

    // MARK: In

    /// Adds a piece of audio.
    ///
    /// - Parameters:
    ///   - samples: Interleaved samples of all channels.
    ///   - stated: The position of the first sample according to the sender. If it is within half
    ///     of the piece's length, or 8 ms, of the end of the previous piece, the piece is placed
    ///     directly after that.
    ///   - now: The position of the next sample that is taken.
    package mutating func add(_ samples: Span<Float>, at stated: Int, now: Int) {
        let length = samples.count / channels
        guard length > 0 else { return }
        tally.received += length
        // Clamps what the sender states, so that no computation overflows.
        let place = place(of: min(max(stated, -Self.farthest), Self.farthest), length)
        pacing.note(place - now, at: now)
        if queue.isEmpty, !isPlaying { begin(at: place, length, now) }
        wait = place + (isPlaying ? now - queue.start : lag) - now
        longest = max(longest, length)
        let late = min(length, max(0, (isPlaying ? queue.start : passed ?? place) - place))
        tally.droppedLate += late
        guard late < length else { return }
        let fresh = samples.withUnsafeBufferPointer { samples in
            let rest = UnsafeBufferPointer(
                rebasing: samples[(late * channels)..<(length * channels)])
            return queue.insert(rest, at: place + late)
        }
        tally.droppedDuplicate += length - late - fresh
        guard makeRoom() else { return }
        // The arrivals recorded so far do not describe the new delay.
        pacing.forget()
        pacing.note(place - now, at: now)
    }

    private static let farthest = 1 << 60

    /// Returns the position at which a piece is queued, from its stated position and the pieces
    /// before it.
    private mutating func place(of stated: Int, _ length: Int) -> Int {
        guard passed != nil else { return stated }
        let (place, end) = (stated + Int(shift.rounded()), queue.end)
        if abs(place - end) <= min(length / 2, longestTolerance) {
            shift += (Double(end - stated) - shift) / 8
            return end
        }
        // Too far off for loss or lateness: the sender restarted its positions.
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

    /// Decides when a piece is played that arrives while nothing is queued or playing.
    private mutating func begin(at place: Int, _ length: Int, _ now: Int) {
        if passed.map({ place >= $0 }) ?? true {
            queue.restart(at: place)
            passed = passed ?? place
        }
        (first, longest) = (length, 0)
        let earliness = place - now
        if !isFree, earliness - Int(shift.rounded()) > maximum { isFree = true }
        lag = wantedLag
        // The pieces after a late one may be even later.
        let margin = max(isFree ? target : target / 2, pacing.expected)
        if earliness + lag < pacing.reserve + 1 || isFree { lag = max(lag, margin - earliness) }
    }

    /// Drops the oldest samples if too many are queued.
    ///
    /// - Returns: Whether it dropped any.
    private mutating func makeRoom() -> Bool {
        guard queue.count > max(maximum, target + 2 * longest) else { return false }
        let excess = queue.count - target - (longest > maximum / 2 ? longest : 0)
        tally.droppedOverflow += queue.take(excess)
        passed = queue.start
        if !isPlaying { lag -= excess }
        return true
    }

    /// Drops all queued samples, because playback has ended.
    package mutating func abandon() {
        tally.droppedAbandoned += queue.take(queue.count)
        (isPlaying, passed) = (false, queue.start)
        pacing.stopSteering()
    }

    // MARK: Out

    /// Adds the next samples that are due to a mix.
    ///
    /// - Parameters:
    ///   - count: Samples of each channel.
    ///   - now: The position of the mix's first sample.
    ///   - mix: Interleaved samples; has room for `count` samples of each channel.
    /// - Returns: Whether anything was due in this block; if not, the mix is unchanged.
    package mutating func take(_ count: Int, at now: Int, into mix: inout [Float]) -> Bool {
        if queue.isEmpty {
            if isPlaying { noteUnderrun(now, missing: count) }
            return false
        }
        var offset = 0
        if !isPlaying {
            if timing == .demand {
                // With the target queued behind the first piece, there is no reason to wait longer.
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
        let wanted = wantedLag
        while offset < count, !queue.isEmpty {
            pacing.steer(now + offset - queue.start - wanted)
            offset += make(count - offset, &mix, at: offset)
        }
        passed = queue.start
        if offset < count { noteUnderrun(now + offset, missing: count - offset) }
        return true
    }

    /// Adds samples to the mix, at most to the end of a change of speed.
    ///
    /// - Returns: The number of samples added in each channel.
    private mutating func make(_ most: Int, _ mix: inout [Float], at offset: Int) -> Int {
        let (made, taken): (Int, Int)
        if let run = pacing.advance(most, queued: queue.count) {
            (made, taken) = (run.made, run.taken)
            queue.add(run, to: &mix, at: offset)
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

    private mutating func noteUnderrun(_ now: Int, missing: Int) {
        (isPlaying, passed, lag) = (false, queue.start, now - queue.start)
        pacing.stopSteering()
        tally.underruns += 1
        tally.missing += missing
    }

    /// Shortens or lengthens silence if that brings the delay closer to the wanted one.
    ///
    /// - Returns: Whether this block consists only of inserted silence.
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
        if queue.count >= 2 * count { tally.droppedSilence += queue.take(count) }
        return false
    }

    private static let silence: Float = 0.001
}

// MARK: Configuration and counts

/// The delay of the audio, and how it is changed. The defaults suit a call.
public struct JitterBufferConfiguration: Sendable {
    /// The minimum delay, which compensates for uneven arrival. Default 40 ms.
    ///
    /// If an output plays by the clock of the audio, the delay is counted from the capture of the
    /// audio; audio that arrives later than that is delayed as long as necessary. Otherwise it is
    /// counted from the arrival of the earliest audio. Values below zero or above
    /// ``maximumDelay`` are clamped.
    public var targetDelay = Duration.milliseconds(40)
    /// The maximum amount of queued audio. Default 1 s. If more arrives than is played, the
    /// oldest samples are dropped down to ``targetDelay``. A piece that is longer than half of
    /// this maximum, and the piece after it, are still queued completely.
    public var maximumDelay = Duration.seconds(1)
    /// The fraction by which audio is played faster or slower to change the delay, and to
    /// follow a sender whose clock runs at a different rate. Default 0.001: follows a
    /// difference of 1000 ppm, and changes the delay by 1 ms per second. A delay that is more
    /// than 20 ms off changes ten times as fast, but never by more than 0.05. From 0 (never) to
    /// 0.05.
    public var speedChange = 0.001
    /// Whether silence (below -60 dB of full scale) is shortened and lengthened to change the
    /// delay, which is faster and inaudible. Default true.
    public var adjustsSilence = true

    /// Creates the default configuration.
    public init() {}
}

/// Counts the samples of each channel by outcome.
public struct JitterBufferCounts: Sendable {
    /// Samples that were added.
    public var received = 0
    /// Samples that were taken for playback.
    public var played = 0
    /// Samples that arrived after those that follow them had been played.
    public var droppedLate = 0
    /// Samples that had already been received.
    public var droppedDuplicate = 0
    /// The oldest samples, dropped because more than ``JitterBufferConfiguration/maximumDelay`` was queued.
    public var droppedOverflow = 0
    /// Samples of silence that were removed to reduce the delay.
    public var droppedSilence = 0
    /// Samples that were still queued when playback was abandoned.
    public var droppedAbandoned = 0
    /// Samples that were received and are not due yet.
    public var waiting = 0
    /// Samples of silence that were played because a sample was due and had not arrived.
    public var missing = 0
    /// How often the queue ran empty during playback.
    public var underruns = 0
    /// Samples of silence that were inserted to increase the delay.
    public var lengthenedSilence = 0

    /// Creates counts that are all zero.
    package init() {}

    /// The number of samples that were received and not played, for all causes together.
    public var dropped: Int {
        droppedLate + droppedDuplicate + droppedOverflow + droppedSilence + droppedAbandoned
    }

    /// Adds the counts of two buffers.
    package static func + (a: JitterBufferCounts, b: JitterBufferCounts) -> JitterBufferCounts {
        var sum = a
        sum.received += b.received
        sum.played += b.played
        sum.droppedLate += b.droppedLate
        sum.droppedDuplicate += b.droppedDuplicate
        sum.droppedOverflow += b.droppedOverflow
        sum.droppedSilence += b.droppedSilence
        sum.droppedAbandoned += b.droppedAbandoned
        sum.waiting += b.waiting
        sum.missing += b.missing
        sum.underruns += b.underruns
        sum.lengthenedSilence += b.lengthenedSilence
        return sum
    }
}

extension JitterBuffer {
    /// What determines when samples are taken.
    package enum Timing: Sendable {
        /// A clock to which the times of the audio refer. Audio that arrives in time is played
        /// exactly ``JitterBufferConfiguration/targetDelay`` after its capture, in sync with that of all other
        /// senders.
        case clock
        /// A device that takes the samples it plays, at its own clock's rate.
        case demand
    }
}
