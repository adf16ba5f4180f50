import Foundation
import GStreamerKit
import MediaCore
import TestSupport
import Testing

@testable import MediaBridge

/// QuickTime files, for editors.
@Suite(.hangGuard) struct QuickTimeTests {
    /// Records three seconds.
    private func record(
        _ directory: TemporaryDirectory, _ video: VideoCodec, _ audio: AudioCodec,
        rate: String = "30000/1001", samples: String = "S24LE", pictures: String = "I420",
        ending: String = "mov", isFragmented: Bool = false
    ) async throws -> RecordedFile {
        var configuration = Recorder.Configuration()
        configuration.video = VideoEncoding(video)
        configuration.audio = AudioEncoding(audio)
        configuration.isFragmented = isFragmented
        (configuration.isDated, configuration.isUTC) = (true, true)
        var plan = BridgePlan(
            capture: "videotestsrc num-buffers=90 ! video/x-raw,format=\(pictures),width=64,"
                + "height=48,framerate=\(rate),pixel-aspect-ratio=4/3 ! appsink name=video "
                + "audiotestsrc num-buffers=90 samplesperbuffer=1600 ! "
                + "audio/x-raw,format=\(samples),rate=48000,channels=2 ! appsink name=audio",
            outputs: [])
        let path = directory.file("out.\(ending)")
        plan.recordings = [BridgePlan.Recording(path: path, configuration: configuration)]
        let bridge = try Bridge(plan)
        try await bridge.run().get()
        return try #require(bridge.recorders[0].report.files.first)
    }

    @Test(arguments: [
        (VideoCodec.h264, AudioCodec.aac, "I420"), (.h265, .pcm, "I420"), (.mjpeg, .aac, "I420"),
        (.prores, .pcm, "I420"), (.prores, .pcm, "RGBA"),
    ])
    func probesAgreeOnTheFile(video: VideoCodec, audio: AudioCodec, pictures: String) async throws {
        try await withTemporaryDirectory { directory in
            let file = try await record(directory, video, audio, pictures: pictures)
            let probe = try await MediaProbe(of: file.path)
            #expect(probe.video?.frames == 90 && abs((probe.duration ?? 0) - 3.003) < 0.01)
            // ffprobe's name.
            #expect(probe.video?.codec == (video == .h265 ? "hevc" : video.rawValue))
            #expect(probe.audio?.codec == (audio == .pcm ? "pcm_s24be" : "aac"))
            let times = try await MediaProbe.videoTimes(of: file.path)
            for (index, time) in times.enumerated() {
                #expect(abs(time - Double(index) * 1001 / 30_000) < 0.001)
            }
            let found = try await Tool.check("gst-discoverer-1.0", [file.path])
            #expect(found.contains("Duration: 0:00:03.00"), "\(found)")
            #expect(!found.lowercased().contains("error"), "\(found)")
            if video == .prores {
                let tag = try await entry("stream=codec_tag_string", "v:0", file.path)
                #expect(tag == (pictures == "RGBA" ? "ap4h" : "apch"))
            }
        }
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8], ["S16LE", "S24LE"])
    func everyChannelKeepsItsPosition(channels: Int, samples: String) async throws {
        try await withTemporaryDirectory { directory in
            var configuration = Recorder.Configuration()
            configuration.video = nil
            configuration.audio = AudioEncoding(.pcm)
            // Each channel has another constant level.
            let levels = (1...channels).map { "\(Double($0) / 10)" }.joined(separator: "|")
            let mask = [0, 4, 3, 7, 0x33, 0x37, 0x3f, 0x13f, 0xc3f][channels]
            let raw = directory.file("in.raw")
            try await Tool.check(
                "ffmpeg",
                [
                    "-v", "error", "-f", "lavfi", "-i", "aevalsrc=\(levels):d=0.5:s=48000", "-f",
                    "s16le", raw,
                ])
            let positions =
                channels > 1
                ? "capssetter caps=\"audio/x-raw,channel-mask=(bitmask)0x\(String(mask, radix: 16))\" ! "
                : ""
            var plan = BridgePlan(
                capture: "filesrc location=\(raw) ! rawaudioparse num-channels=\(channels) "
                    + "sample-rate=48000 ! \(positions)audioconvert ! audio/x-raw,format=\(samples) "
                    + "! appsink name=audio",
                outputs: [])
            let path = directory.file("out.mov")
            plan.recordings = [BridgePlan.Recording(path: path, configuration: configuration)]
            try await Bridge(plan).run().get()
            #expect(try await entry("stream=channels", "a:0", path) == "\(channels)")
            let layout = try await entry("stream=channel_layout", "a:0", path)
            let expected = [
                "", "", "", "3.0", "quad", "5.0", "5.1", "6.1(back)", "7.1",
            ][channels]
            #expect(expected.isEmpty || layout.hasPrefix(expected.prefix(3)), "\(layout)")
            let stored = directory.file("out.raw")
            try await Tool.check("ffmpeg", ["-v", "error", "-i", path, "-f", "s16le", stored])
            let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: stored)))
            for channel in 0..<channels {
                let place = 2 * (channels * 1000 + channel)
                let level = Int(
                    Int16(bitPattern: UInt16(bytes[place]) | UInt16(bytes[place + 1]) << 8))
                #expect(abs(level - 3277 * (channel + 1)) < 12, "channel \(channel): \(level)")
            }
        }
    }

    private func entry(_ name: String, _ stream: String, _ path: String) async throws -> String {
        try await Tool.check(
            "ffprobe",
            [
                "-v", "error", "-select_streams", stream, "-show_entries", name, "-of",
                "default=nw=1:nk=1", path,
            ]
        ).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test func timeOfDayFollowsTheTimeZone() {
        let clock = WallClock(zone: "Asia/Kolkata")
        #expect(clock.timeOfDay(at: 20 * 3_600_000_000_000) == 5_400_000_000_000)
        #expect(WallClock(zone: "UTC").timeOfDay(at: -1) == 86_399_999_999_999)
    }

    /// The time of day, with the number of the picture in its second.
    @Test(arguments: [("30000/1001", 30, ";"), ("25/1", 25, ":"), ("24000/1001", 24, ":")])
    func theTimecodeIsTheTimeOfDay(rate: String, count: Int, mark: String) async throws {
        try await withTemporaryDirectory { directory in
            let file = try await record(directory, .h264, .aac, rate: rate)
            let text = try await entry("stream_tags=timecode", "v:0", file.path)
            let seconds = file.began.timeIntervalSince1970
            let day = Int(seconds) % 86_400
            let expected = [day / 3600, day / 60 % 60, day % 60].map {
                String(repeating: "0", count: $0 < 10 ? 1 : 0) + "\($0)"
            }.joined(separator: ":")
            #expect(text.hasPrefix(expected + mark), "\(text), \(expected)")
            let picture = Int((seconds - seconds.rounded(.down)) * Double(count))
            #expect(abs((Int(text.suffix(2)) ?? -9) - picture) <= 2, "\(text), \(picture)")
        }
    }

    /// Returns the boxes of a path below the track of a kind.
    private func boxes(_ path: String, _ handler: String, _ type: String) throws -> [[UInt8]] {
        let file = try FileBytes(path)
        var index: [UInt8] = []
        try file.forEachBox { type, place, size in
            if type == "moov" { index = file.read(size, at: place) ?? [] }
        }
        let movie = try #require(MovieBoxes(index, 0..<index.count).first { _ in true })
        let track = try #require(
            movie.children("trak").first {
                $0.child("mdia")?.child("hdlr")?.letters(at: 8) == handler
            })
        let list = try #require(
            track.child("mdia")?.child("minf")?.child("stbl")?.child("stsd"))
        if type == "stsd" { return [Array(list.bytes[list.content])] }
        let entry = try #require(
            MovieBoxes(list.bytes, list.content.dropFirst(8)).first { _ in true })
        return MovieBoxes(list.bytes, entry.content.dropFirst(78))
            .filter { $0.type == type }.map { Array($0.bytes[$0.content]) }
    }

    @Test func atomsMatchThoseOfFFmpeg() async throws {
        try await withTemporaryDirectory { directory in
            let file = try await record(directory, .h264, .pcm)
            let timecode = try await entry("stream_tags=timecode", "v:0", file.path)
            let other = directory.file("ffmpeg.mov")
            try await Tool.check(
                "ffmpeg",
                [
                    "-v", "error", "-i", file.path, "-map", "0:v", "-map", "0:a", "-c", "copy",
                    "-timecode", timecode, other,
                ])
            for type in ["colr", "pasp"] {
                let own = try boxes(file.path, "vide", type)
                #expect(try own.count == 1 && own == boxes(other, "vide", type), "\(type)")
            }
            #expect(try boxes(file.path, "tmcd", "stsd") == boxes(other, "tmcd", "stsd"))
            // ffmpeg adds the box of the byte order, which is big-endian without one.
            let own = try boxes(file.path, "soun", "stsd")[0].dropFirst(12)
            #expect(try boxes(other, "soun", "stsd")[0].dropFirst(12).starts(with: own.prefix(40)))
        }
    }

    @Test(arguments: ["mov", "mkv"], ["S16LE", "S24LE", "S32LE"])
    func uncompressedSamplesAreKept(ending: String, samples: String) async throws {
        try await withTemporaryDirectory { directory in
            for isFragmented in [false, true] {
                let file = try await record(
                    directory, .h264, .pcm, samples: samples, ending: ending,
                    isFragmented: isFragmented)
                let reference = directory.file("reference.raw")
                try await Tool.check(
                    "gst-launch-1.0",
                    [
                        "-q", "audiotestsrc", "num-buffers=90", "samplesperbuffer=1600", "!",
                        "audio/x-raw,format=\(samples),rate=48000,channels=2", "!", "audioconvert",
                        "!", "audio/x-raw,format=S32LE", "!", "filesink", "location=\(reference)",
                    ])
                let stored = directory.file("stored.raw")
                try await Tool.check(
                    "ffmpeg", ["-v", "error", "-y", "-i", file.path, "-f", "s32le", stored])
                let (own, expected) = try (
                    Data(contentsOf: URL(fileURLWithPath: stored)),
                    Data(contentsOf: URL(fileURLWithPath: reference))
                )
                #expect(own == expected, "\(own.count) and \(expected.count) bytes")
                try FileManager.default.removeItem(atPath: file.path)
            }
        }
    }
}

/// Timecodes by SMPTE ST 12-1.
@Suite struct MovieTimecodeTests {
    private func first(_ seconds: Double, _ duration: UInt32, _ timescale: UInt32) -> UInt32? {
        MovieTimecode(
            at: Int64((seconds * 1e9).rounded()), duration: duration, timescale: timescale)?.first
    }

    @Test func timecodeCountsFramesSinceMidnight() {
        #expect(first(0, 1, 25) == 0 && first(3600.5, 1, 25) == 90_012)
        // 24000/1001 has no drop frame: the number is that of the second.
        #expect(first(3600, 1001, 24_000) == 86_400)
    }

    @Test func dropFrameTimecodeSkipsNumbers() {
        // 01:00:00;00 and 00:10:00;00 by definition, 00:01:00;02 is the first number of its minute.
        #expect(first(3600, 1001, 30_000) == 107_892 && first(600, 1001, 30_000) == 17_982)
        #expect(first(60, 1001, 30_000) == 1800 && first(61, 1001, 30_000) == 1828)
        #expect(first(3600, 1001, 60_000) == 215_784)
        #expect(first(3600, 1, 30) == 108_000)
    }

    @Test func otherFrameRatesHaveNoTimecode() {
        #expect(first(0, 2, 1) == nil && first(0, 1, 1000) == nil && first(0, 0, 25) == nil)
    }
}
