internal import MediaCore
internal import Synchronization

/// One user's audio on its way to the mix: converted to the playback's format and queued in a
/// jitter buffer.
///
/// Thread: any; one frame at a time.
final class RemotePlayback: Sendable {
    private struct State {
        var buffer: JitterBuffer
        var isClosed = false
        /// Memory for the samples of a frame.
        var floats: [Float] = []
        /// The position up to which audio was played.
        var played: Int?
    }
    private let line: Mutex<State>
    private let converter: any AudioConverter
    private let format: AudioFormat
    /// Keeps the sound in step with the user's pictures.
    private let delay: PlayoutDelay
    private let latency: MediaTime

    /// - Parameters:
    ///   - format: The playback's format: interleaved float samples.
    ///   - latency: The time from capture to playing for audio that is not delayed.
    init(
        _ format: AudioFormat, _ converter: any AudioConverter, _ buffer: JitterBuffer,
        _ delay: PlayoutDelay, latency: MediaTime
    ) {
        self.format = format
        self.converter = converter
        self.delay = delay
        self.latency = latency
        line = Mutex(State(buffer: buffer))
    }

    /// Converts a frame and queues it.
    ///
    /// - Parameter now: The position of the mix's next sample.
    /// - Returns: The number of samples, per channel, that were refused because they came after
    ///   ``close()``.
    /// - Throws: The converter's error.
    func add(_ frame: AudioFrame, now: Int) throws -> Int {
        if let refused = try addCopied(frame, now: now) { return refused }
        guard let made = try converter.convert(frame, to: AudioConversion(to: format)) else {
            return 0
        }
        return try addCopied(made, now: now) ?? 0
    }

    /// Queues a frame whose samples need no converter; `nil` for any other.
    private func addCopied(_ frame: AudioFrame, now: Int) throws -> Int? {
        let place = frame.runningTime.map { format.sampleCount(in: $0) }
        return try line.withLock { line in
            guard try frame.copyFloats(to: &line.floats, of: format) else { return nil }
            let floats = line.floats
            guard !line.isClosed else { return floats.count / format.channels }
            line.buffer.add(floats.span, at: place ?? now, now: now)
            return 0
        }
    }

    /// Adds the samples that are due to the mix.
    ///
    /// - Parameters:
    ///   - now: The position of the mix's first sample.
    ///   - mix: Interleaved samples.
    /// - Returns: Whether any audio was added.
    func take(at now: Int, into mix: inout [Float]) -> Bool {
        let count = mix.count / format.channels
        return line.withLock { line in
            guard !line.isClosed else { return false }
            let isHeard = line.buffer.take(count, at: now, into: &mix)
            if isHeard { line.played = now + count }
            keepStep(&line, now + count)
            return isHeard
        }
    }

    /// How long after the last audio its delay is still that of the user.
    private static let memory = MediaTime(seconds: 2)

    private func keepStep(_ line: inout State, _ now: Int) {
        let isRecent =
            line.played.map { format.duration(sampleCount: now - $0) < Self.memory } ?? false
        let lag = isRecent ? line.buffer.lag(at: now) : nil
        let pictures = delay.mixes(
            at: lag.map { latency + format.duration(sampleCount: $0) },
            now: format.duration(sampleCount: now) + latency)
        line.buffer.keepStep(lag: format.sampleCount(in: max(.zero, pictures - latency)))
    }

    /// Sets how unevenly the user's audio is expected to arrive.
    func expect(jitter: MediaTime) {
        line.withLock { $0.buffer.expect(jitter: format.sampleCount(in: jitter)) }
    }

    /// Drops the queued audio and refuses further frames.
    ///
    /// - Returns: The final counts.
    func close() -> JitterBufferCounts {
        line.withLock { line in
            if !line.isClosed { delay.mixes(at: nil, now: .zero) }
            line.isClosed = true
            line.buffer.abandon()
            return line.buffer.counts
        }
    }

    /// Whether no audio is queued.
    var isEmpty: Bool { line.withLock { $0.buffer.isEmpty } }

    /// The counts of the user's audio, and how long the latest frame waits.
    var state: (counts: JitterBufferCounts, wait: MediaTime) {
        let (counts, wait) = line.withLock { ($0.buffer.counts, $0.buffer.wait) }
        return (counts, format.duration(sampleCount: wait))
    }
}
