import Glibc
import MediaBridgeElements

/// Measures how loud sound is, without changing it.
///
/// ```sh
/// gst-bridge run --control live.sock --capture "autoaudiosrc ! audioconvert ! meter" --output fakesink
/// gst-bridge ctl live.sock get meter.level
/// ```
final class Meter: AudioProcessor, MediaElement, Sendable {
    static let summary = "Measures how loud sound is"
    static let caps = "audio/x-raw, format=F32LE, layout=interleaved"

    let level = MediaProperty(
        "The level of the last frame, in decibels of full scale", in: -120...20, default: -120.0)

    init() {}

    func process(_ frame: consuming AudioFrame) throws -> AudioFrame? {
        try frame.withSamples(as: Float.self) { samples in
            var sum: Float = 0
            for index in samples.indices { sum += samples[index] * samples[index] }
            level.value = Double(10 * log10(sum / Float(max(1, samples.count)) + 1e-12))
        }
        return frame
    }
}
