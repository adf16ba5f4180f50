/// Keeps a mix within full scale by turning it down where it is too loud, not by cutting off its peaks.
///
/// It turns down on the way to the first sample that is too loud, within the block, and up again within
/// a second. What is not too loud passes as it is.
///
/// A value: keep one for each stream, and use it from one thread at a time.
public struct PeakLimiter: Sendable {
    private let channels: Int
    private let sampleRate: Int
    private var gain: Float = 1

    /// - Parameter sampleRate: Hz.
    public init(sampleRate: Int, channels: Int) {
        self.sampleRate = max(1, sampleRate)
        self.channels = max(1, channels)
    }

    /// By how much the last sample was turned down; 1 for not at all.
    public var currentGain: Double { Double(gain) }

    /// Changes a block of interleaved samples, so that none is beyond 1 or -1.
    public mutating func limit(_ samples: inout [Float]) {
        var (peak, loud): (Float, Int?) = (0, nil)
        for index in samples.indices {
            let level = abs(samples[index])
            guard level.isFinite else {
                samples[index] = 0
                continue
            }
            peak = max(peak, level)
            if loud == nil, level * gain > 1 { loud = index / channels }
        }
        let frames = samples.count / channels
        if let loud {
            ramp(&samples, to: 1 / peak, over: loud)
        } else if gain < 1 {
            let step = Float(frames) / Float(sampleRate)
            ramp(&samples, to: min(1, gain + step, peak > 1 ? 1 / peak : 1), over: frames)
        }
    }

    private mutating func ramp(_ samples: inout [Float], to next: Float, over frames: Int) {
        for index in samples.indices {
            let way = min(1, Float(index / channels) / Float(max(1, frames)))
            let now = frames == 0 ? next : gain + (next - gain) * way
            samples[index] = max(-1, min(1, samples[index] * now))
        }
        gain = next
    }
}
