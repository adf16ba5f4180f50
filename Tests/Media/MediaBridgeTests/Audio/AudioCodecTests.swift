import Foundation
import TestSupport
import Testing

@testable import MediaBridge

/// The encoders and decoders that an engine uses for the sound of a channel.
@Suite(.hangGuard)
struct AudioCodecTests {
    private let backend = GStreamerBackend()

    /// A sine wave in frames of the given length.
    private func frames(
        _ frequency: Double = 440, every length: Int = 480, seconds: Double = 1, rate: Int = 48000,
        channels: Int = 1, from begin: MediaTime = .zero
    ) throws -> [AudioFrame] {
        let format = AudioFormat(.s16le, sampleRate: rate, channels: channels)
        let all = Int(seconds * Double(rate))
        return try stride(from: 0, to: all, by: length).map { first in
            var frame = try AudioFrame(
                silence: format, sampleCount: min(length, all - first),
                runningTime: begin + format.duration(sampleCount: first))
            try frame.withMutableSamples(as: Int16.self) { span in
                for index in span.indices {
                    let place = Double(first + index / channels) / Double(rate)
                    span[index] = Int16(10000 * sin(2 * .pi * frequency * place))
                }
            }
            frame.liveTiming = LiveTiming(
                clockOrigin: MediaTime(seconds: 3), latency: MediaTime(seconds: 0.05))
            return frame
        }
    }

    private func units(
        _ codec: AudioCodec, _ frames: [AudioFrame], bitRate: Int = 64_000
    ) throws -> [EncodedAudioFrame] {
        let encoder = try backend.makeAudioEncoder(AudioEncoderSettings(codec, bitRate: bitRate))
        return try frames.flatMap { try encoder.encode($0) } + encoder.finish()
    }

    /// The samples of the first channel.
    private func samples(_ frames: [AudioFrame]) throws -> [Double] {
        try frames.flatMap { frame in
            try frame.withSamples(as: Int16.self) { span in
                stride(from: 0, to: span.count, by: frame.format.channels).map { Double(span[$0]) }
            }
        }
    }

    private func loudness(_ samples: some Collection<Double>) -> Double {
        (samples.reduce(0) { $0 + $1 * $1 } / Double(max(1, samples.count))).squareRoot()
    }

    private static let codecs: [AudioCodec] = [.opus, .alaw, .mulaw]

    @Test func browserCodecsAreAvailable() {
        #expect(backend.encodableAudioCodecs == [.opus, .mulaw, .alaw])
    }

    /// Encodes 10 ms frames without those with the given numbers. Later frames keep their times.
    @Test(arguments: codecs, [[50], [50, 51, 52], [10, 20, 30, 40, 50], Array(20..<60)])
    func missingAudioBecomesSilence(codec: AudioCodec, missing: [Int]) throws {
        let whole = try frames(every: 480)
        let rest = whole.indices.filter { !missing.contains($0) }.map { whole[$0] }
        let (expected, came) = (try units(codec, whole), try units(codec, rest))
        #expect(came.last?.runningTime == expected.last?.runningTime)
        let decoder = try backend.makeAudioDecoder(codec)
        let decoded = try came.flatMap { try decoder.decode($0) }
        let total = decoded.reduce(MediaTime.zero) {
            $0 + $1.format.duration(sampleCount: $1.sampleCount)
        }
        #expect((0.99...1.03).contains(total.seconds))
        #expect(decoder.concealedSamples == 0)
    }

    /// Opus's redundant copies (LBRR): RFC 6716, section 4.2.4.
    @Test func expectedLossAddsACopyOfThePreviousUnit() throws {
        let encoder = try backend.makeAudioEncoder(AudioEncoderSettings(.opus))
        let samples = Syllables.samples(seconds: 1)
        var copies: [Int] = []
        for second in 0..<4 {
            encoder.expectLoss(of: [0, 0.1, 0.2, 0][second])
            var units = 0
            for first in stride(from: second * 48_000, to: (second + 1) * 48_000, by: 480) {
                let frame = try AudioFrame(
                    copying: Array(samples[(first % 48_000)...].prefix(480)), sampleRate: 48_000,
                    channels: 1,
                    runningTime: MediaTime(value: Int64(first), timescale: 48_000))
                units += try encoder.encode(frame).count { Self.hasCopy($0.bytes) }
            }
            copies.append(units)
        }
        #expect(copies[0] == 0)
        // Half of the 50 units are silent.
        #expect(copies[1] >= 10 && copies[2] >= 10, "\(copies)")
        #expect(copies[3] <= 1)
    }

    /// Whether a 20 ms packet of one channel has a copy: the second bit of a SILK frame.
    private static func hasCopy(_ unit: [UInt8]) -> Bool {
        guard unit.count > 1, unit[0] & 0x80 == 0 else { return false }
        return unit[1] & 0x40 != 0
    }

    @Test func unitsFollowRestartedTimestamps() throws {
        let units = try units(
            .opus, frames(seconds: 0.2, from: MediaTime(seconds: 9)) + frames(seconds: 0.2))
        let last = try #require(units.last?.runningTime)
        #expect((0.16...0.22).contains(last.seconds))
    }

    @Test(arguments: codecs, [1, 480, 960, 1000, 48000])
    func encodedAudioKeepsItsTimestampsWhenDecoded(codec: AudioCodec, length: Int) throws {
        let begin = MediaTime(seconds: 5)
        let seconds = length == 1 ? 0.1 : 1.0
        let units = try units(
            codec, frames(every: length, seconds: seconds, channels: 2, from: begin))
        #expect(units.allSatisfy { $0.codec == codec && $0.liveTiming != nil })
        #expect(units.first?.runningTime == begin)
        if codec == .opus {
            // The encoder's priming samples are cut from the first packet.
            for (a, b) in zip(units.dropFirst(), units.dropFirst(2)) {
                let apart = try #require(b.runningTime) - (try #require(a.runningTime))
                #expect(apart == MediaTime(seconds: 0.02))
            }
        }
        let decoder = try backend.makeAudioDecoder(codec)
        let decoded = try units.flatMap { try decoder.decode($0) }
        #expect(decoded.allSatisfy { $0.liveTiming == units[0].liveTiming })
        let first = try #require(decoded.first?.runningTime)
        #expect(abs((first - begin).seconds) <= 0.0066)
        let rate = decoded[0].format.sampleRate
        let heard = try samples(decoded)
        #expect(abs(Double(heard.count) / Double(rate) - seconds) <= 0.021)
        let middle = heard[heard.count / 4..<heard.count * 3 / 4]
        #expect(abs(loudness(middle) - 7071) < 400)
        #expect(decoder.concealedSamples == 0)
    }

    @Test func unsupportedRatesAndChannelCountsAreConverted() throws {
        for (rate, channels) in [(8000, 1), (44100, 2), (96000, 6)] {
            let units = try units(.opus, frames(rate: rate, channels: channels))
            #expect(units.allSatisfy { $0.sampleRate == 48000 })
            #expect(units.allSatisfy { ($0.channels ?? 0) <= 2 })
            let last = try #require(units.last?.runningTime)
            #expect(last >= MediaTime(seconds: 0.96) && last <= MediaTime(seconds: 1.02))
        }
    }

    @Test func theBitRateChangesWhileItRuns() throws {
        let encoder = try backend.makeAudioEncoder(AudioEncoderSettings(.opus, bitRate: 96_000))
        var sizes: [Int] = []
        for (index, frame) in try frames(seconds: 4).enumerated() {
            if index == 200 { encoder.setBitRate(16_000) }
            sizes += try encoder.encode(frame).map(\.byteCount)
        }
        let (first, second) = (sizes[10..<90].reduce(0, +), sizes[110..<190].reduce(0, +))
        #expect(second * 2 < first)
    }

    /// The decoder replaces lost packets with concealed audio at the same position.
    @Test func aLostPacketIsConcealed() throws {
        var units = try units(.opus, frames())
        units.remove(at: 20)
        units.removeSubrange(30..<33)
        let decoder = try backend.makeAudioDecoder(.opus)
        let decoded = try units.flatMap { try decoder.decode($0) }
        #expect(decoder.concealedSamples == 4 * 960)
        for (a, b) in zip(decoded, decoded.dropFirst()) {
            let end = try #require(a.runningTime) + a.format.duration(sampleCount: a.sampleCount)
            #expect(abs((try #require(b.runningTime) - end).nanoseconds) <= 50_000)
        }
        let heard = try samples(decoded)
        #expect(loudness(heard[20 * 960..<21 * 960]) > 2000)
    }

    @Test func longSilenceIsNotALoss() throws {
        let early = try units(.opus, frames(seconds: 0.2))
        let late = try units(.opus, frames(seconds: 0.2, from: MediaTime(seconds: 2)))
        let decoder = try backend.makeAudioDecoder(.opus)
        let decoded = try (early + late).flatMap { try decoder.decode($0) }
        #expect(decoder.concealedSamples == 0)
        #expect(decoded.contains { $0.runningTime == late[0].runningTime })
    }

    @Test(arguments: codecs, [UInt64](1...10))
    func invalidBytesDoNotEndADecoder(codec: AudioCodec, seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let good = try units(codec, frames(seconds: 0.5))
        let decoder = try backend.makeAudioDecoder(codec)
        for unit in good {
            var bad = unit
            var bytes = unit.bytes
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(
                    in: 0...255, using: &random)
            }
            bad.bytes = Array(bytes.prefix(.random(in: 1...bytes.count, using: &random)))
            _ = try? decoder.decode(bad)
        }
        let decoded = good.flatMap { (try? decoder.decode($0)) ?? [] }
        let heard = try samples(decoded)
        #expect(Double(heard.count) / Double(decoded[0].format.sampleRate) >= 0.4)
    }

    @Test func unknownCodecIsNamed() throws {
        let speex = AudioCodec(rawValue: "audio/x-speex")
        let none = #expect(throws: PipelineError.self) {
            try backend.makeAudioEncoder(AudioEncoderSettings(speex))
        }
        #expect(none?.message.contains("speex") == true)
        #expect(throws: PipelineError.self) { try backend.makeAudioDecoder(speex) }
        #expect(throws: FrameError.self) {
            try backend.makeAudioDecoder(.opus).decode(
                EncodedAudioFrame(.alaw, bytes: [1], runningTime: .zero))
        }
    }

    @Test func audioWithoutATimestampIsRefused() throws {
        let encoder = try backend.makeAudioEncoder(AudioEncoderSettings(.opus))
        var frame = try frames()[0]
        frame.runningTime = nil
        #expect(throws: FrameError.self) { try encoder.encode(frame) }
    }

    /// An independent check: ffmpeg decodes the units from a file.
    @Test func ffmpegDecodesTheUnits() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("sine.mkv")
            let sink = try PipelineAudioSink("opusparse ! matroskamux ! filesink location=\(path)")
            for unit in try units(.opus, frames(seconds: 2)) { try await sink.write(unit) }
            try await sink.finish()
            let probe = try await Tool.check(
                "ffprobe",
                [
                    "-v", "error", "-show_entries", "stream=codec_name:format=duration", "-of",
                    "csv=p=0", path,
                ])
            #expect(probe.contains("opus"))
            let duration = probe.split(whereSeparator: \.isNewline).compactMap { Double($0) }.first
            #expect(abs((duration ?? 0) - 2) < 0.05)
        }
    }
}
