internal import Glibc

/// Detects sound or silence, by the effective value (RMS) of the samples, from 0 to 1: 0.1 is -20 dB.
///
/// ```swift
/// var silence = SoundDetector.silence
/// silence.length = .seconds(5)
/// plan.detectors = [StreamDetector("silent", sound: { [silence] in silence })]
/// ```
public struct SoundDetector: AudioDetector, Sendable {
    /// Detects a level from -40 dB on; with the sensitivity 0 from -10 dB, with 1 from -70 dB. The score is the level.
    public static let sound = SoundDetector(.sound)
    /// Detects a level below -40 dB for ``length``; with the sensitivity 0 below -70 dB, with 1 below -10 dB. The score
    /// is 1 less the level.
    public static let silence = SoundDetector(.silence)

    /// What is detected.
    package enum State: Sendable { case sound, silence }
    /// From 0 to 1. Default 0.5.
    public var sensitivity = 0.5
    /// How long ``silence`` must last. Default 2 s.
    public var length = Duration.seconds(2)
    private let state: State
    /// When the silence began.
    private var since: MediaTime?

    package init(_ state: State) { self.state = state }

    /// Measures a block of audio.
    ///
    /// - Throws: ``FrameError`` for samples that are not 32-bit float.
    public mutating func inspect(_ sound: AudioFrame) throws -> Finding {
        let level = try sound.withSamples(as: Float.self) { samples in
            var sum = 0.0
            for index in samples.indices { sum += Double(samples[index]) * Double(samples[index]) }
            return min(1, (sum / Double(max(1, samples.count))).squareRoot())
        }
        let isLoud =
            level >= pow(10, -(10 + 60 * (state == .sound ? sensitivity : 1 - sensitivity)) / 20)
        guard state == .silence else { return Finding(isLoud, score: level) }
        let time = sound.runningTime ?? .zero
        since = isLoud ? nil : since ?? time
        let lasts = since.map { time - $0 >= MediaTime(length) } ?? false
        return Finding(lasts, score: 1 - level)
    }
}
