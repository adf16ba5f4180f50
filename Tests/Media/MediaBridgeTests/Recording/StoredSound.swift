import Foundation
import MediaBridge
import MediaCore
import TestSupport

/// Audio with a different tone in each channel, and how it is recorded.
struct StoredSound: Sendable, CustomStringConvertible {
    /// The channel mask, in GStreamer's order of positions; 0 for mono and for channels without positions.
    var mask: UInt64
    var channels: Int
    var codec: AudioCodec
    var container: RecordingContainer
    var rate = 48_000

    init(
        _ mask: UInt64, channels: Int? = nil, _ codec: AudioCodec, _ container: RecordingContainer,
        rate: Int = 48_000
    ) {
        self.mask = mask
        self.channels = channels ?? max(1, mask.nonzeroBitCount)
        (self.codec, self.container, self.rate) = (codec, container, rate)
    }

    /// The layouts that ffmpeg has a name for.
    static let masks: [UInt64] = [
        0x0, 0x3, 0xb, 0x7, 0x103, 0x107, 0x33, 0xc03, 0xf, 0x37, 0xc07, 0x10f, 0x3f, 0xc0f, 0xd07,
        0xcc3, 0x137, 0xd0f, 0x13f, 0xccb, 0xc37, 0xcc7, 0xc3f, 0xff, 0xccf, 0xd37,
    ]
    static let rates = [
        8_000, 11_025, 16_000, 22_050, 37_800, 44_100, 48_000, 88_200, 96_000, 192_000,
    ]
    static let forms: [(AudioCodec, RecordingContainer)] = [
        (.opus, .mkv), (.opus, .webm), (.flac, .mkv), (.aac, .mkv), (.aac, .mp4), (.aac, .ts),
    ]

    static func random(_ random: inout SeededGenerator) -> StoredSound {
        let (codec, container) = forms.randomElement(using: &random)!
        let mask = masks.randomElement(using: &random)!
        let channels = mask == 0 ? Int.random(in: 1...8, using: &random) : mask.nonzeroBitCount
        return StoredSound(
            mask, channels: channels, codec, container, rate: rates.randomElement(using: &random)!)
    }

    var description: String {
        "\(channels) channels 0x\(String(mask, radix: 16)) \(rate) Hz \(codec).\(container)"
    }

    /// Whether the codec has no place for a channel, by the codec's own list of layouts.
    var mustBeRefused: Bool {
        switch codec {
        case .aac: channels > 6 || mask == 0xcc3
        case .opus:
            ![0x0, 0x3, 0x7, 0x33, 0xc03, 0x37, 0xc07, 0x3f, 0xc0f, 0xd0f, 0x13f, 0xc3f].contains(
                mask)
        default: false
        }
    }

    /// The tone of each channel of the file. Opus has one layout of 6.1, with the surround pair at the sides.
    var expected: [Int] {
        codec == .opus && mask == 0x13f ? [0, 1, 2, 3, 6, 4, 5] : Array(0..<channels)
    }

    /// The frequency of each channel in Hz. AAC keeps only the lowest ones of a low-frequency channel.
    var tones: [Double] {
        let positions = (0..<64).filter { mask >> UInt64($0) & 1 == 1 }
        return (0..<channels).map { channel in
            positions.indices.contains(channel) && positions[channel] == 3
                ? 100 : 300 * Double(channel + 1)
        }
    }

    func frame(_ index: Int) throws -> AudioFrame {
        let count = rate / 10
        let format = AudioFormat(.s16le, sampleRate: rate, channels: channels, channelMask: mask)
        var samples: [Int16] = []
        let tones = tones
        for sample in index * count..<(index + 1) * count {
            for tone in tones {
                samples.append(
                    Int16(9_000 * sin(2 * Double.pi * tone * Double(sample) / Double(rate))))
            }
        }
        let storage = try samples.withUnsafeBytes {
            try MemoryAudioStorage(copying: $0, format: format)
        }
        return AudioFrame(storage, runningTime: MediaTime(value: Int64(index), timescale: 10))
    }

    /// Records a second.
    ///
    /// - Returns: The recorder's report.
    func record(to path: String) async throws -> RecorderReport {
        var configuration = Recorder.Configuration()
        (configuration.video, configuration.audio) = (nil, AudioEncoding(codec))
        let recorder = try Recorder(path, configuration: configuration)
        try recorder.start()
        for index in 0..<10 { try await recorder.write(try frame(index)) }
        return try await recorder.stop()
    }

    /// Returns the loudest tone in each channel of a file, as ffmpeg decodes it.
    func heard(in path: String) async throws -> [Int] {
        let raw = path + ".raw"
        try await Tool.check(
            "ffmpeg",
            ["-v", "error", "-ss", "0.3", "-i", path, "-f", "f32le", "-ar", "48000", raw])
        let probe = try await MediaProbe(of: path)
        let count = probe.audio?.channels ?? 0
        let samples = try Data(contentsOf: URL(filePath: raw)).withUnsafeBytes {
            Array($0.bindMemory(to: Float.self))
        }
        return (0..<count).map { channel in
            let powers = tones.map { tone in
                var (sine, cosine) = (0.0, 0.0)
                for time in 0..<min(9_600, samples.count / max(1, count)) {
                    let phase = 2 * Double.pi * tone * Double(time) / 48_000
                    let value = Double(samples[time * count + channel])
                    (sine, cosine) = (sine + value * sin(phase), cosine + value * cos(phase))
                }
                return sine * sine + cosine * cosine
            }
            return powers.indices.max { powers[$0] < powers[$1] } ?? -1
        }
    }
}
