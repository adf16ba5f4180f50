import Glibc
import MediaBridgeElements

/// Makes sound louder or quieter.
///
/// ```sh
/// gst-launch-1.0 audiotestsrc ! gain decibels=-12 ! autoaudiosink
/// ```
final class Gain: AudioProcessor, MediaElement, Sendable {
    static let summary = "Makes sound louder or quieter"
    static let caps = "audio/x-raw, format=F32LE, layout=interleaved"

    let decibels = MediaProperty(
        "The change of the level, in decibels", in: -60...24, default: 0.0)

    init() {}

    func process(_ frame: consuming AudioFrame) throws -> AudioFrame? {
        let factor = Float(pow(10, decibels.value / 20))
        guard factor != 1 else { return frame }
        try frame.withMutableSamples(as: Float.self) { samples in
            for index in samples.indices { samples[index] *= factor }
        }
        return frame
    }
}
