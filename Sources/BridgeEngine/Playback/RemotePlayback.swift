internal import MediaCore
internal import Synchronization

/// One user's sound on its way into the mix: converted to the playback's format, and held in a jitter
/// buffer.
///
/// Thread: any; frames come one at a time.
final class RemotePlayback: Sendable {
    private struct State {
        var buffer: JitterBuffer
        var isClosed = false
    }
    private let line: Mutex<State>
    private let converter: any AudioConverter
    private let format: AudioFormat

    /// - Parameter format: Float samples, interleaved.
    init(_ format: AudioFormat, _ converter: any AudioConverter, _ buffer: JitterBuffer) {
        self.format = format
        self.converter = converter
        line = Mutex(State(buffer: buffer))
    }

    /// - Parameter now: The place of the mix's next sample.
    /// - Returns: How many samples came after ``close()``.
    /// - Throws: What the converter says.
    func add(_ frame: AudioFrame, now: Int) throws -> Int {
        guard let made = try converter.convert(frame, to: AudioConversion(to: format)) else {
            return 0
        }
        let place = made.runningTime.map { format.samples(in: $0) }
        return try made.withSamples(as: Float.self) { samples in
            line.withLock { line in
                guard !line.isClosed else { return samples.count / format.channels }
                line.buffer.add(samples, at: place ?? now, now: now)
                return 0
            }
        }
    }

    /// Adds what is due to the mix.
    ///
    /// - Parameters:
    ///   - now: The place of the mix's first sample.
    ///   - mix: Interleaved.
    /// - Returns: Whether there was anything to be heard.
    func take(at now: Int, into mix: inout [Float]) -> Bool {
        let count = mix.count / format.channels
        return line.withLock { $0.buffer.take(count, at: now, into: &mix) }
    }

    /// Drops what waits, and takes no more.
    ///
    /// - Returns: What became of all of it.
    func close() -> JitterBuffer.Counts {
        line.withLock { line in
            line.isClosed = true
            line.buffer.abandon()
            return line.buffer.counts
        }
    }

    /// Whether nothing waits.
    var isEmpty: Bool { line.withLock { $0.buffer.isEmpty } }

    /// What became of the user's sound, and how long the latest piece waits.
    var state: (counts: JitterBuffer.Counts, wait: MediaTime) {
        let (counts, wait) = line.withLock { ($0.buffer.counts, $0.buffer.wait) }
        return (counts, format.duration(samples: wait))
    }
}
