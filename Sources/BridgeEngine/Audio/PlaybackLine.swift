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
        /// When the next sample was captured, in the engine's time.
        var time = MediaTime.zero
        /// How much later it is played, where it came too late to be played in time.
        var lag = MediaTime.zero
        var continuity = AudioContinuity()
        /// Not enough is there to begin, or to go on.
        var isWaiting = true
        var counts = EngineStatistics.Playback()

        mutating func drop(_ wanted: Int, _ format: AudioFormat) {
            let dropped = min(max(0, wanted), samples.count / format.channels)
            samples.removeFirst(dropped * format.channels)
            time = time + format.duration(samples: dropped)
            counts.discardedSamples += dropped
        }
    }
    private let state = Mutex(State())
    private let converter: any AudioConverter
    private let format: AudioFormat

    /// Held before the first sample is played, so that what comes late is bridged.
    private static let cushion = MediaTime(nanoseconds: 30_000_000)
    /// What is left out at a beginning, at most.
    private static let leftOut = MediaTime(nanoseconds: 40_000_000)
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
                if state.samples.isEmpty { state.time = frame.runningTime ?? state.time }
                try frame.withSamples(as: Float.self) { span in
                    state.samples.reserveCapacity(state.samples.count + span.count)
                    for index in span.indices { state.samples.append(span[index]) }
                }
            }
            let held = state.samples.count / channels
            guard held > format.samples(in: Self.most) else { return }
            let excess = held - format.samples(in: Self.cushion)
            state.drop(excess, format)
        }
    }

    /// When the next sample is due; `nil` while too little is there.
    var head: MediaTime? {
        state.withLock { state in
            let held = state.samples.count / format.channels
            guard state.isWaiting else { return state.time + state.lag }
            return held > 0 && held >= format.samples(in: Self.cushion) ? state.time : nil
        }
    }

    /// Adds what is due in a block to the mix. To be asked where there is a ``head``.
    ///
    /// - Parameters:
    ///   - start: When the block begins.
    ///   - mix: The block, interleaved.
    func take(at start: MediaTime, into mix: inout [Float]) {
        let (channels, format) = (self.format.channels, self.format)
        state.withLock { state in
            if state.isWaiting {
                state.isWaiting = false
                state.lag = .zero
                let behind = start - state.time
                // A little is left out, so that all are in step; who is far behind is played late.
                if behind > Self.leftOut {
                    state.lag = behind
                } else {
                    state.drop(format.samples(in: behind), format)
                }
            }
            let offset = max(0, format.samples(in: state.time + state.lag - start))
            let (first, held) = (offset * channels, state.samples.count)
            guard first < mix.count else { return }
            let count = min(mix.count - first, held)
            for index in 0..<count { mix[first + index] += state.samples[index] }
            state.samples.removeFirst(count)
            state.time = state.time + format.duration(samples: count / channels)
            guard first + count < mix.count else { return }
            state.isWaiting = true
            state.counts.underruns += 1
            state.counts.missingSamples += (mix.count - first - count) / channels
        }
    }

    var counts: EngineStatistics.Playback { state.withLock { $0.counts } }
}
