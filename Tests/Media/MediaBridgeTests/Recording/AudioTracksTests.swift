import Foundation
import MediaCore
import TestSupport
import Testing

@testable import MediaBridge

/// Several audio tracks in one file.
@Suite(.hangGuard) struct AudioTracksTests {
    /// A different tone on each track.
    private struct Track {
        var seconds = 2.0
        /// When it begins.
        var start = 0.0
        var rate = 48_000
        var channels = 1
        var codec: String?
    }
    private struct Case: CustomStringConvertible {
        var ending: String
        var tracks: [Track]
        var hasVideo = true
        var isLive = false
        var segments: Duration?
        var isFragmented = false

        var description: String {
            "\(tracks.count) tracks, \(hasVideo ? "video, " : "")\(isLive ? "live, " : "").\(ending)"
                + (segments.map { ", \($0)" } ?? "") + (isFragmented ? ", fragmented" : "")
                + tracks.map { ", \($0.start)+\($0.seconds) s \($0.rate)/\($0.channels)" }.joined()
        }

        var capture: String {
            let live = "is-live=\(isLive)"
            let video =
                "videotestsrc num-buffers=60 \(live) ! video/x-raw,width=64,height=48,framerate=30/1"
                + " ! appsink name=video "
            let audio = tracks.enumerated().map { index, track in
                let count = Int(track.seconds * 50)
                return "audiotestsrc freq=\(400 * (index + 1)) num-buffers=\(count) \(live) "
                    + "samplesperbuffer=\(track.rate / 50) "
                    + "timestamp-offset=\(Int(track.start * 1e9)) ! "
                    + "audio/x-raw,rate=\(track.rate),channels=\(track.channels) ! "
                    + "taginject tags=\"title=Track-\(index),language-code=\(Self.languages[index])\" ! "
                    + (track.codec.map { "\($0) ! " } ?? "")
                    + "appsink name=audio\(index == 0 ? "" : "\(index + 1)") "
            }
            return (hasVideo ? video : "") + audio.joined()
        }
        private static let languages = ["en", "de", "fr", "pl"]
    }

    private func record(_ media: Case, in directory: TemporaryDirectory) async throws
        -> RecorderReport
    {
        var configuration = Recorder.Configuration()
        if !media.hasVideo { configuration.video = nil }
        configuration.audio = media.tracks[0].codec == nil ? AudioEncoding() : .copy
        configuration.segments = media.segments.map { RecordingSegments(length: $0) }
        configuration.isFragmented = media.isFragmented
        var plan = BridgePlan(capture: media.capture, outputs: [])
        plan.recordings = [
            BridgePlan.Recording(
                path: directory.file("out.\(media.ending)"), configuration: configuration)
        ]
        let bridge = try Bridge(plan)
        try await bridge.run().get()
        return bridge.recorders[0].report
    }

    /// Returns the loudest tone in the middle of a track, by the number of the track that should have it.
    private func tone(of track: Int, in path: String) async throws -> Int? {
        let raw = path + ".\(track).raw"
        try await Tool.check(
            "ffmpeg",
            [
                "-v", "error", "-y", "-i", path, "-map", "0:a:\(track)", "-ac", "1", "-ar", "48000",
                "-f", "f32le", raw,
            ])
        let samples = try Data(contentsOf: URL(filePath: raw)).withUnsafeBytes {
            let all = $0.bindMemory(to: Float.self)
            return Array(all[max(0, all.count / 2 - 4_800)..<min(all.count, all.count / 2 + 4_800)])
        }
        let powers = (1...4).map { number -> Double in
            var (sine, cosine) = (0.0, 0.0)
            for (time, sample) in samples.enumerated() {
                let phase = 2 * Double.pi * 400 * Double(number * time) / 48_000
                sine += Double(sample) * sin(phase)
                cosine += Double(sample) * cos(phase)
            }
            return sine * sine + cosine * cosine
        }
        guard let most = powers.max(), most > 1 else { return nil }
        return powers.firstIndex(of: most)
    }

    private func entries(_ what: String, _ selected: String, _ path: String) async throws
        -> [String]
    {
        try await Tool.check(
            "ffprobe",
            [
                "-v", "error", "-select_streams", selected, "-show_entries", what, "-of",
                "default=nk=1:nw=1", path,
            ]
        ).split(whereSeparator: \.isNewline).map(String.init)
    }

    @Test(arguments: ["mkv", "mp4", "mov", "webm", "ts", "ogg", "m4a"])
    func everyTrackIsRecordedAndClipped(ending: String) async throws {
        try await withTemporaryDirectory { directory in
            let isOfSound = ["ogg", "m4a"].contains(ending)
            let tracks = [
                Track(), Track(start: 0.5, rate: 44_100, channels: 2), Track(seconds: 1.5),
            ]
            let media = Case(ending: ending, tracks: tracks, hasVideo: !isOfSound)
            let report = try await record(media, in: directory)
            let names = report.tracks.map(\.stream)
            #expect(names == (isOfSound ? [] : ["video"]) + ["audio", "audio2", "audio3"])
            #expect(report.tracks.allSatisfy { $0.losses.total == 0 && $0.written > 0 })
            let clip = try await Recordings(of: [report.files[0].path]).clip(
                into: directory.file("clip.\(ending)"))
            #expect(clip.leftOut.isEmpty)
            for path in [report.files[0].path, clip.file.path] {
                let probe = try await MediaProbe(of: path)
                #expect(probe.streams.count { $0.kind == "audio" } == 3)
                for index in tracks.indices {
                    let found = try await tone(of: index, in: path)
                    #expect(found == index, "\(path)")
                    let languages = try await entries(
                        "stream_tags=language", "a:\(index)", path)
                    let expected = [["eng"], ["deu", "ger"], ["fra", "fre"]][index]
                    // A program lists its streams, too.
                    #expect(
                        ending == "ogg" || expected.contains(languages.last ?? ""),
                        "\(path): \(languages)")
                    guard ["mkv", "webm", "mp4", "mov"].contains(ending) else { continue }
                    let key = ["mp4", "mov"].contains(ending) ? "handler_name" : "title"
                    #expect(
                        try await entries("stream_tags=\(key)", "a:\(index)", path) == [
                            "Track-\(index)"
                        ])
                }
                // oggdemux and ffmpeg begin every stream of an Ogg file at its first packet.
                guard ending != "ogg" else { continue }
                var starts: [Double] = []
                for index in 0..<3 {
                    let start = try await entries("stream=start_time", "a:\(index)", path).last
                    starts.append(start.flatMap { Double($0) } ?? .nan)
                }
                #expect(abs(starts[1] - starts[0] - 0.5) < 0.03, "\(path): \(starts)")
                #expect(abs(starts[2] - starts[0]) < 0.03, "\(path): \(starts)")
            }
        }
    }

    @Test(arguments: ["flac", "wav"]) func singleStreamFileRefusesTwo(ending: String) async throws {
        try await withTemporaryDirectory { directory in
            var configuration = Recorder.Configuration()
            configuration.audio = AudioEncoding()
            configuration.audioTracks = 2
            configuration.video = nil
            let error = #expect(throws: PipelineError.self) {
                try Recorder(directory.file("out.\(ending)"), configuration: configuration)
            }
            #expect(error?.message.contains("one stream, not audio, audio2") == true)
        }
    }

    @Test(arguments: ["mkv", "mp4", "mov"])
    func everyTrackOfADamagedFileIsRepaired(ending: String) async throws {
        try await withTemporaryDirectory { directory in
            let media = Case(
                ending: ending, tracks: [Track(seconds: 4), Track(seconds: 4)], isFragmented: true)
            let path = try await record(media, in: directory).files[0].path
            // The files of a killed process.
            let bytes = try Data(contentsOf: URL(filePath: path))
            try bytes.prefix(bytes.count * 3 / 4).write(to: URL(filePath: path))
            _ = try await Recordings.repair(path)
            let probe = try await MediaProbe(of: path)
            #expect(probe.streams.count == 3 && probe.streams.allSatisfy { $0.frames > 30 })
            for index in 0..<2 {
                let found = try await tone(of: index, in: path)
                #expect(found == index)
            }
        }
    }

    @Test func twoRecordingsAreJoinedWithAllTheirTracks() async throws {
        try await withTemporaryDirectory { directory in
            let media = Case(
                ending: "mkv", tracks: [Track(seconds: 3), Track(seconds: 3)], segments: .seconds(1)
            )
            let report = try await record(media, in: directory)
            #expect(report.files.count > 1)
            let clip = try await Recordings(of: report.files.map(\.path)).clip(
                into: directory.file("clip.mkv"))
            for index in 0..<2 {
                let packets = try await entries("packet=pts_time", "a:\(index)", clip.file.path)
                let written = report.tracks[index + 1].written
                #expect(packets.count == written)
                let found = try await tone(of: index, in: clip.file.path)
                #expect(found == index)
            }
        }
    }

    /// A program that delivers only one of two live streams of audio.
    @Test func missingLiveAudioBecomesSilence() async throws {
        try await withTemporaryDirectory { directory in
            var configuration = Recorder.Configuration()
            (configuration.video, configuration.audio) = (nil, AudioEncoding())
            (configuration.audioTracks, configuration.whenFull) = (2, .wait)
            let recorder = try Recorder(directory.file("out.mkv"), configuration: configuration)
            try recorder.start()
            let format = AudioFormat(.s16le, sampleRate: 48_000, channels: 1)
            for index in 0..<500 {
                var frame = try AudioFrame(
                    silence: format, sampleCount: 480,
                    runningTime: MediaTime(value: Int64(index), timescale: 100))
                frame.liveTiming = LiveTiming(clockOrigin: .zero, latency: .zero)
                for (track, input) in recorder.audioInputs.enumerated()
                where track == 0 || index < 50 {
                    _ = input.consume(frame)
                }
            }
            let report = try await recorder.stop()
            #expect(report.tracks[1].repeated > 0)
            let counts = report.tracks.map { $0.balance.delivered }
            #expect(counts[1] > 0 && report.tracks.allSatisfy { $0.losses.total == 0 })
            let probe = try await MediaProbe(of: report.files[0].path)
            let frames = probe.streams.map(\.frames)
            // Two seconds behind at most: one that is not filled, and what the encoder holds.
            #expect(frames[1] > frames[0] / 2, "\(frames)")
        }
    }

    @Test func everyUnitOfRandomTracksIsInTheFiles() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        for round in 0..<6 {
            let media = randomCase(&random)
            try await withTemporaryDirectory { directory in
                let report = try await record(media, in: directory)
                let comment = Comment(rawValue: "seed \(seed), round \(round): \(media)")
                #expect(report.failure == nil, comment)
                var packets: [String: Int] = [:]
                for file in report.files {
                    let kinds = try await entries(
                        "packet=codec_type", media.hasVideo ? "V" : "a", file.path)
                    packets["video", default: 0] += media.hasVideo ? kinds.count : 0
                    packets["audio", default: 0] += try await entries(
                        "packet=codec_type", "a", file.path
                    ).count
                }
                let audio = report.tracks.filter { $0.stream != "video" }
                #expect(audio.count == media.tracks.count, comment)
                #expect(packets["audio"] == audio.reduce(0) { $0 + $1.written }, comment)
                #expect(packets["video"] == report.video?.written ?? 0, comment)
                for (index, track) in audio.enumerated() {
                    let losses = track.losses
                    // Live audio that ends before the first picture is not heard.
                    #expect(losses.total == losses[.early], "\(track.stream) \(losses) \(comment)")
                    guard media.segments == nil, !media.isLive else { continue }
                    let found = try await tone(of: index, in: report.files[0].path)
                    #expect(found == index, comment)
                }
            }
        }
    }

    private func randomCase(_ random: inout SeededGenerator) -> Case {
        let ending = ["mkv", "mp4", "mov", "ts", "webm", "m4a"].randomElement(using: &random)!
        let isLive = Int.random(in: 0..<4, using: &random) == 0
        let tracks = (0..<Int.random(in: 2...4, using: &random)).map { _ in
            Track(
                seconds: [1, 2, 2, 3].randomElement(using: &random)!,
                start: isLive ? 0 : [0, 0, 0.02, 0.7].randomElement(using: &random)!,
                rate: [48_000, 44_100, 16_000].randomElement(using: &random)!,
                channels: Int.random(in: 1...2, using: &random))
        }
        var media = Case(ending: ending, tracks: tracks, isLive: isLive)
        media.hasVideo = ending != "m4a" && Int.random(in: 0..<4, using: &random) > 0
        if Int.random(in: 0..<3, using: &random) == 0 { media.segments = .seconds(1) }
        media.isFragmented = Bool.random(using: &random)
        return media
    }
}
