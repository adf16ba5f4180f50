import Foundation

/// Audio that speech codecs treat as speech: harmonics of 140 Hz whose volume rises and falls four
/// times per second.
public enum Syllables {
    /// Samples at 48 kHz, mono. Each whole second can be repeated seamlessly.
    public static func samples(seconds: Int) -> [Int16] {
        (0..<seconds * 48_000).map { index in
            let time = Double(index) / 48_000
            let loudness = max(0, sin(2 * .pi * 4 * time))
            let voice = (1...12).reduce(0.0) {
                $0 + sin(2 * .pi * 140 * Double($1) * time) / Double($1)
            }
            return Int16(6000 * loudness * voice)
        }
    }

    /// Writes one second of the audio into a directory.
    ///
    /// - Returns: A gst-launch string that repeats it.
    public static func source(in directory: TemporaryDirectory) throws -> String {
        let bytes = samples(seconds: 1).flatMap { sample in
            [UInt8(truncatingIfNeeded: sample), UInt8(truncatingIfNeeded: sample >> 8)]
        }
        for number in 0..<100 {
            let block = Data(bytes[(number * 960)..<((number + 1) * 960)])
            try block.write(to: URL(filePath: directory.file("syllable\(100 + number).pcm")))
        }
        return "multifilesrc location=\(directory.path)/syllable%d.pcm start-index=100 "
            + "stop-index=199 loop=true ! rawaudioparse format=pcm pcm-format=s16le "
            + "sample-rate=48000 num-channels=1"
    }
}
