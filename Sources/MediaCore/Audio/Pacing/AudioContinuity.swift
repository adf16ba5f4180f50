/// Makes one unbroken stream of samples of frames whose times say that some are missing, or come twice.
///
/// Feed it each frame, and pass on what it returns: each begins exactly where the one before ended. Times
/// that are off by a little are jitter, and set right; off by 2 ms to one side for half a second, they are
/// none, and corrected as a gap or an overlap of that size. A gap is filled with silence, an overlap is cut
/// off; both are counted. A gap too long to be filled stays, and is told.
///
/// Times that go forward unevenly, as those of a program that stamps each piece when it is there, say
/// when the sound was handed over and not when it was taken: then the samples count, and times correct
/// them only where they are off by 200 ms, or for two seconds by more than they usually are.
///
/// ```swift
/// var continuity = AudioContinuity()
/// let result = continuity.feed(frame)
/// result.frames.forEach(write)
/// ```
///
/// A value: keep one for each stream, and use it from one thread at a time.
public struct AudioContinuity: Sendable {
    /// How far times may be off.
    public struct Configuration: Hashable, Sendable {
        /// A frame whose time is off by no more is where it belongs, however evenly times go forward.
        /// Default `nil`: three quarters of what the frame lasts, from 2 to 8 ms, so that a missing frame
        /// is noticed, and a late clock is not; 200 ms where times go forward unevenly.
        public var jitter: MediaTime?
        /// The longest gap that is filled, and the longest way back that is cut off; 2 s by default.
        public var longestCorrection = MediaTime(seconds: 2)

        public init() {}
    }

    /// What was done to the stream for the sake of a frame.
    public enum Correction: Hashable, Sendable {
        /// A gap: so much silence, in samples of each channel, stands before the frame.
        case inserted(samples: Int)
        /// An overlap: so many samples of each channel, of the frame's first ones, were there already.
        case dropped(samples: Int)
        /// A gap too long to be filled, which stays.
        case jumped(MediaTime)
        /// Times that began anew further back than can be cut off: from here on they count from where the
        /// stream was.
        case restarted(MediaTime)
    }

    /// What has been done so far; samples are those of each channel.
    public struct Counts: Hashable, Sendable {
        public var gaps = 0
        public var overlaps = 0
        public var insertedSamples = 0
        public var droppedSamples = 0
        /// Gaps that were too long, and times that began anew.
        public var jumps = 0

        public init() {}
    }

    /// What became of a frame.
    public struct Result: Sendable {
        /// What to pass on, in this order: silence that was missing, and what is new of the frame.
        public var frames: [AudioFrame]
        public var correction: Correction?
    }

    private struct Stream {
        var format: AudioFormat
        /// When sample zero was due.
        var start: MediaTime
        /// Samples since.
        var samples = 0
        /// What is added to the times of the source, once they began anew.
        var shift: MediaTime
        /// Since when all times were off to the same side, and by how much at least.
        var bias: (since: MediaTime, least: MediaTime)?
        var evenness = TimeEvenness()

        /// When the next sample is due.
        var end: MediaTime { start + format.duration(samples: samples) }
    }
    private var stream: Stream?
    public let configuration: Configuration

    /// What has been done so far. ``reset()`` keeps it.
    public private(set) var counts = Counts()

    public init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
    }

    /// The next frame is the first of a stream of its own.
    public mutating func reset() { stream = nil }

    /// Of the stream; `nil` before its first frame.
    public var format: AudioFormat? { stream?.format }

    /// When the next sample is due; `nil` before the first frame that has a time.
    public var expectedTime: MediaTime? { stream?.end }

    /// Takes the next frame.
    ///
    /// A frame without a time is taken for the next one; before any that has one, it passes as it is.
    public mutating func feed(_ frame: AudioFrame) -> Result {
        guard let time = frame.runningTime else {
            guard stream != nil else { return Result(frames: [frame]) }
            begin(frame, at: .zero)
            return Result(frames: [placed(frame)])
        }
        begin(frame, at: time)
        let format = frame.format
        stream?.evenness.note(time, lasting: format.duration(samples: frame.sampleCount))
        let offset = time + (stream?.shift ?? .zero) - (stream?.end ?? time)
        let spread = configuration.jitter == nil ? stream?.evenness.spread : nil
        let limit = spread == nil ? jitter(of: frame) : Self.unevenJitter
        let correction = abs(offset) > limit ? offset : persistent(offset, spread)
        guard let correction else { return Result(frames: [placed(frame)]) }
        stream?.bias = nil
        if abs(correction) > configuration.longestCorrection { return jumped(correction, frame) }
        let missing = format.samples(in: correction)
        if missing < 0 {
            let dropped = min(-missing, frame.sampleCount)
            counts.overlaps += 1
            counts.droppedSamples += dropped
            let rest = frame.dropFirst(dropped)
            return Result(
                frames: rest.sampleCount > 0 ? [placed(rest)] : [],
                correction: .dropped(samples: dropped))
        }
        guard
            var silence = try? AudioFrame(
                silence: format, sampleCount: missing, runningTime: time)
        else { return jumped(correction, frame) }
        silence.liveTiming = frame.liveTiming
        counts.gaps += 1
        counts.insertedSamples += missing
        return Result(
            frames: [placed(silence), placed(frame)], correction: .inserted(samples: missing))
    }

    /// Puts silence in the place of sound that does not come, up to `time`: who waits for it waits no
    /// longer. What comes later than that is cut off as an overlap.
    ///
    /// - Returns: What to pass on; `nil` before the first frame, and where the stream has come so far.
    public mutating func fill(upTo time: MediaTime, as liveTiming: LiveTiming? = nil) -> AudioFrame?
    {
        guard let stream else { return nil }
        let missing = stream.format.samples(in: time - stream.end)
        guard missing > 0,
            var silence = try? AudioFrame(
                silence: stream.format, sampleCount: missing, runningTime: stream.end)
        else { return nil }
        silence.liveTiming = liveTiming
        counts.gaps += 1
        counts.insertedSamples += missing
        return placed(silence)
    }

    /// What is off to one side for long enough is no jitter.
    ///
    /// - Parameter spread: How unevenly times go forward; `nil` where they do not.
    /// - Returns: By how much it was off at least; `nil` while nobody knows.
    private mutating func persistent(_ offset: MediaTime, _ spread: MediaTime?) -> MediaTime? {
        let notable = max(Self.notable, min(spread ?? .zero, Self.mostNotable))
        guard let end = stream?.end, abs(offset) >= notable else {
            stream?.bias = nil
            return nil
        }
        guard let bias = stream?.bias, (bias.least < .zero) == (offset < .zero) else {
            stream?.bias = (end, offset)
            return nil
        }
        let least = abs(offset) < abs(bias.least) ? offset : bias.least
        stream?.bias = (bias.since, least)
        let patience = spread == nil ? Self.patience : Self.unevenPatience
        return end - bias.since >= patience ? least : nil
    }

    private static let notable = MediaTime(nanoseconds: 2_000_000)
    private static let mostNotable = MediaTime(nanoseconds: 40_000_000)
    private static let patience = MediaTime(nanoseconds: 500_000_000)
    private static let unevenPatience = MediaTime(seconds: 2)
    private static let unevenJitter = MediaTime(nanoseconds: 200_000_000)

    /// Sees to it that the stream has the frame's format, from where it is.
    private mutating func begin(_ frame: AudioFrame, at time: MediaTime) {
        guard stream?.format != frame.format else { return }
        stream = Stream(
            format: frame.format, start: stream?.end ?? time, shift: stream?.shift ?? .zero)
    }

    /// The frame at the time where the stream is, which goes on by its samples.
    private mutating func placed(_ frame: AudioFrame) -> AudioFrame {
        var frame = frame
        frame.runningTime = stream?.end
        stream?.samples += frame.sampleCount
        return frame
    }

    private mutating func jumped(_ offset: MediaTime, _ frame: AudioFrame) -> Result {
        counts.jumps += 1
        guard offset < .zero else {
            stream = stream.map {
                Stream(format: $0.format, start: $0.end + offset, shift: $0.shift)
            }
            return Result(frames: [placed(frame)], correction: .jumped(offset))
        }
        let shift = (stream?.shift ?? .zero) - offset
        stream?.shift = shift
        return Result(frames: [placed(frame)], correction: .restarted(offset))
    }

    private func jitter(of frame: AudioFrame) -> MediaTime {
        if let jitter = configuration.jitter { return jitter }
        let most = frame.format.duration(samples: frame.sampleCount / 4 * 3)
        return min(max(most, Self.notable), MediaTime(nanoseconds: 8_000_000))
    }

    private func abs(_ time: MediaTime) -> MediaTime { time < .zero ? .zero - time : time }
}
