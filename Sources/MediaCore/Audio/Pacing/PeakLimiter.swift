/// Keeps a mix within full scale by reducing its gain when it is too loud, instead of clipping its
/// peaks.
///
/// The gain is reduced gradually up to the first sample that is too loud, within the block, and
/// restored within a second. A mix that is not too loud is unchanged.
///
/// A value type: keep one for each stream, and use it from one thread at a time.
package struct PeakLimiter: Sendable {
    private let channels: Int
    private let sampleRate: Int
    /// The gain applied to the last sample; 1 means unchanged.
    package private(set) var gain: Float = 1

    package init(sampleRate: Int, channels: Int) {
        self.sampleRate = max(1, sampleRate)
        self.channels = max(1, channels)
    }

    /// Limits a block of interleaved samples in place to the range from -1 to 1. Samples that are
    /// not finite become zero.
    package mutating func limit(_ samples: inout [Float]) {
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
