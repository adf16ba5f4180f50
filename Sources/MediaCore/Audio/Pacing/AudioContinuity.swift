/// How the stream was corrected for a frame.
package enum AudioCorrection: Equatable, Sendable {
    /// A gap: this many samples of silence in each channel precede the frame.
    case inserted(sampleCount: Int)
    /// An overlap: this many of the frame's first samples in each channel were cut off.
    case dropped(sampleCount: Int)
    /// A gap that is too long to be filled and remains in the stream.
    case jumped(MediaTime)
    /// Times that went back further than can be cut off. They are shifted from here on, so that
    /// they continue at the stream's present position.
    case restarted(MediaTime)
}

/// Counts the corrections so far; samples are those of each channel.
public struct AudioCorrectionCounts: Equatable, Sendable {
    /// Gaps that were filled with silence.
    public var gaps = 0
    /// Overlaps that were cut off.
    public var overlaps = 0
    /// Samples of silence that were inserted.
    public var insertedSamples = 0
    /// Samples that were cut off as overlap.
    public var droppedSamples = 0
    /// Gaps that were too long to fill, and times that went back too far.
    public var jumps = 0

    /// Creates counts that are all zero.
    package init() {}
}

/// Turns frames whose times have gaps or overlaps into one continuous stream of samples.
///
/// The engine and the recorder apply it to each stream: each of the frames that result begins exactly
/// where the previous one ended. Small deviations of a time are jitter and are removed. A deviation of at
/// least 2 ms to the same side for half a second is not jitter, and is corrected as a gap or an
/// overlap of that size. A gap is filled with silence and an overlap is cut off; both are counted.
/// A gap that is too long to be filled remains, and is reported as ``AudioCorrection/jumped(_:)``.
///
/// If times advance unevenly, as those of a program that stamps each piece on arrival do, they say
/// when the audio was handed over and not when it was captured. Then the number of samples
/// determines the position, and times correct it only if they are off by more than 200 ms, or for
/// two seconds by more than their usual deviation.
package struct AudioContinuity: Sendable {
    /// The frames to pass on, and the correction that was made.
    package struct Result: Sendable {
        /// The frames to pass on, in this order: silence for a gap, then the part of the frame that
        /// is new.
        package var frames: [AudioFrame]
        /// The correction that was made; `nil` if none was needed.
        package var correction: AudioCorrection?
    }

    private struct Stream {
        var format: AudioFormat
        /// The time of sample zero.
        var start: MediaTime
        /// The number of samples since ``start``.
        var samples = 0
        /// The offset that is added to the source's times after they went back.
        var shift: MediaTime
        /// Since when all times deviate to the same side, and the smallest deviation since then.
        var bias: (since: MediaTime, least: MediaTime)?
        var evenness = TimeEvenness()

        /// The time of the next sample.
        var end: MediaTime { start + format.duration(sampleCount: samples) }
    }
    private var stream: Stream?
    private let longestCorrection: MediaTime

    /// The corrections so far. ``reset()`` keeps them.
    package private(set) var counts = AudioCorrectionCounts()

    /// Creates a value that has received no frames.
    ///
    /// - Parameter longestCorrection: The longest gap that is filled, and the longest overlap that
    ///   is cut off. Default 2 s.
    package init(longestCorrection: MediaTime = MediaTime(seconds: 2)) {
        self.longestCorrection = longestCorrection
    }

    /// Treats the next frame as the first of a new stream.
    package mutating func reset() { stream = nil }

    /// The format of the stream; `nil` before its first frame.
    package var format: AudioFormat? { stream?.format }

    /// The time of the next sample; `nil` before the first frame that has a time.
    package var expectedTime: MediaTime? { stream?.end }

    /// Adds the next frame of the stream.
    ///
    /// A frame without a time is placed after the previous one. Before the first frame that has a
    /// time, it is returned unchanged.
    package mutating func feed(_ frame: AudioFrame) -> Result {
        guard let time = frame.runningTime else {
            guard stream != nil else { return Result(frames: [frame]) }
            begin(frame, at: .zero)
            return Result(frames: [placed(frame)])
        }
        begin(frame, at: time)
        let format = frame.format
        stream?.evenness.note(time, lasting: format.duration(sampleCount: frame.sampleCount))
        let offset = time + (stream?.shift ?? .zero) - (stream?.end ?? time)
        let spread = stream?.evenness.spread
        let limit = spread == nil ? jitter(of: frame) : Self.unevenJitter
        let correction = abs(offset) > limit ? offset : persistent(offset, spread)
        guard let correction else { return Result(frames: [placed(frame)]) }
        stream?.bias = nil
        if abs(correction) > longestCorrection { return jumped(correction, frame) }
        let missing = format.sampleCount(in: correction)
        if missing < 0 {
            let dropped = min(-missing, frame.sampleCount)
            counts.overlaps += 1
            counts.droppedSamples += dropped
            let rest = frame.dropFirst(dropped)
            return Result(
                frames: rest.sampleCount > 0 ? [placed(rest)] : [],
                correction: .dropped(sampleCount: dropped))
        }
        guard let silence = silence(missing, as: frame.liveTiming) else {
            return jumped(correction, frame)
        }
        return Result(
            frames: [silence, placed(frame)], correction: .inserted(sampleCount: missing))
    }

    /// Fills the stream with silence up to `time` in place of audio that does not arrive, so that a
    /// receiver does not wait for it any longer. Audio that arrives later for this period is cut
    /// off as an overlap.
    ///
    /// - Returns: The silence to pass on; `nil` before the first frame, or if the stream has
    ///   already reached `time`.
    package mutating func fill(upTo time: MediaTime, as liveTiming: LiveTiming? = nil)
        -> AudioFrame?
    {
        guard let stream else { return nil }
        let missing = stream.format.sampleCount(in: time - stream.end)
        return missing > 0 ? silence(missing, as: liveTiming) : nil
    }

    /// Fills a gap at the present end of the stream. Returns `nil` if there is no memory.
    private mutating func silence(_ samples: Int, as liveTiming: LiveTiming?) -> AudioFrame? {
        guard let format,
            var silence = try? AudioFrame(silence: format, sampleCount: samples, runningTime: nil)
        else { return nil }
        silence.liveTiming = liveTiming
        counts.gaps += 1
        counts.insertedSamples += samples
        return placed(silence)
    }

    /// Detects a deviation that stays on one side for so long that it is not jitter.
    ///
    /// - Parameter spread: The usual deviation if times advance unevenly; otherwise `nil`.
    /// - Returns: The smallest deviation in that period; `nil` until it has lasted long enough.
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
        let needed = spread == nil ? Self.biasTime : Self.unevenBiasTime
        return end - bias.since >= needed ? least : nil
    }

    private static let notable = MediaTime(nanoseconds: 2_000_000)
    private static let mostNotable = MediaTime(nanoseconds: 40_000_000)
    private static let biasTime = MediaTime(nanoseconds: 500_000_000)
    private static let unevenBiasTime = MediaTime(seconds: 2)
    private static let unevenJitter = MediaTime(nanoseconds: 200_000_000)

    /// Starts a stream of the frame's format at the present position, unless the stream has that
    /// format already.
    private mutating func begin(_ frame: AudioFrame, at time: MediaTime) {
        guard stream?.format != frame.format else { return }
        stream = Stream(
            format: frame.format, start: stream?.end ?? time, shift: stream?.shift ?? .zero)
    }

    /// Returns the frame at the present end of the stream, and advances the stream by its samples.
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

    /// The largest deviation of a frame's time that is jitter, if times advance evenly: three
    /// quarters of the frame's duration, but from 2 to 8 ms, so that a missing frame is detected and
    /// a late clock is not.
    private func jitter(of frame: AudioFrame) -> MediaTime {
        let most = frame.format.duration(sampleCount: frame.sampleCount / 4 * 3)
        return min(max(most, Self.notable), MediaTime(nanoseconds: 8_000_000))
    }

    private func abs(_ time: MediaTime) -> MediaTime { time < .zero ? .zero - time : time }
}

/// Measures whether the times of a stream advance as its samples do.
///
/// A missing frame makes a time advance too far. A time advances too little only if the frame
/// before it was stamped late.
private struct TimeEvenness {
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
