internal import MediaCore
internal import Synchronization

/// One user's sound on its way into the mix: converted to the playback's format, made unbroken, and held
/// until enough is there to bridge what comes late.
///
/// Thread: any; frames come one at a time.
final class PlaybackLine: Sendable {
    private struct State {
        /// Interleaved, from the sample that is next.
        var samples: [Float] = []
        /// When the next sample is due.
        var time: MediaTime?
        var continuity = AudioContinuity()
        /// Not enough is there to begin, or to go on.
        var isWaiting = true
        var counts = EngineStatistics.Playback()
    }
    private let state = Mutex(State())
    private let converter: any AudioConverter
    private let format: AudioFormat

    /// Held before the first sample is played, so that what comes late is bridged.
    private static let cushion = MediaTime(nanoseconds: 30_000_000)
    /// What is held at most; beyond it the oldest goes, down to the cushion.
    private static let most = MediaTime(seconds: 0.5)

    /// - Parameter format: Float samples, interleaved.
    init(_ format: AudioFormat, _ converter: any AudioConverter) {
        self.format = format
        self.converter = converter
    }

    /// - Throws: What the converter says.
    func add(_ frame: AudioFrame) throws {
        guard let made = try converter.convert(frame, to: AudioConversion(to: format)) else {
            return
        }
        let (channels, format) = (self.format.channels, self.format)
        try state.withLock { state in
            for frame in state.continuity.feed(made).frames {
                if state.samples.isEmpty { state.time = frame.runningTime }
                try frame.withSamples(as: Float.self) { span in
                    state.samples.reserveCapacity(state.samples.count + span.count)
                    for index in span.indices { state.samples.append(span[index]) }
                }
            }
            let held = state.samples.count / channels
            guard held > format.samples(in: Self.most) else { return }
            let excess = held - format.samples(in: Self.cushion)
            state.samples.removeFirst(excess * channels)
            state.time = state.time.map { $0 + format.duration(samples: excess) }
            state.counts.discardedSamples += excess
        }
    }

    /// Adds the next samples to a mix.
    ///
    /// - Parameter mix: Interleaved, as many of each channel as are wanted.
    /// - Returns: When the first is due, where there is any.
    func take(into mix: inout [Float]) -> MediaTime? {
        let (channels, format) = (self.format.channels, self.format)
        return state.withLock { state in
            let held = state.samples.count / channels
            if state.isWaiting {
                guard held >= format.samples(in: Self.cushion) else { return nil }
                state.isWaiting = false
            }
            let count = min(mix.count, state.samples.count)
            for index in 0..<count { mix[index] += state.samples[index] }
            let time = count > 0 ? state.time : nil
            state.samples.removeFirst(count)
            state.time = state.time.map { $0 + format.duration(samples: count / channels) }
            if count < mix.count {
                state.isWaiting = true
                state.counts.underruns += 1
                state.counts.missingSamples += (mix.count - count) / channels
            }
            return time
        }
    }

    var counts: EngineStatistics.Playback { state.withLock { $0.counts } }
}
