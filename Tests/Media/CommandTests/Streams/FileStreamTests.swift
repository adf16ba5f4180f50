import Foundation
import TestSupport
import Testing

/// The streams of a file whose capture ends in a decoder or a demuxer.
@Suite("Streams of files", .hangGuard) struct FileStreamTests {
    private static let seed =
        ProcessInfo.processInfo.environment["SEED"].flatMap { UInt64($0) } ?? 1
    private static let count =
        ProcessInfo.processInfo.environment["COPIED"].flatMap { Int($0) } ?? 12

    /// A file with a second of each video.
    struct Film: Sendable, CustomTestStringConvertible {
        var videos: Int
        var sounds: Int
        var hasSubtitles = false
        /// The elements of the capture behind the file.
        var reader: String
        var container: String
        /// The length of each sound, and when the file begins, in seconds.
        var length = 1
        var start = 0

        var testDescription: String {
            "\(videos) videos, \(sounds) sounds of \(length) s\(hasSubtitles ? ", subtitles" : "") "
                + "from \(start) s on, \(reader), \(container)"
        }

        /// The extension of the file that the reader reads.
        private var kind: String {
            switch reader {
            case "qtdemux": "mp4"
            case "tsdemux": "ts"
            default: "mkv"
            }
        }

        static func random(_ random: inout SeededGenerator) -> Film {
            let readers = [
                "decodebin", "uridecodebin", "parsebin", "matroskademux", "qtdemux", "tsdemux",
            ]
            var film = Film(
                videos: .random(in: 0...3, using: &random),
                sounds: .random(in: 0...3, using: &random),
                hasSubtitles: Bool.random(using: &random),
                reader: readers.randomElement(using: &random) ?? "decodebin",
                container: ["mkv", "mp4", "ts"].randomElement(using: &random) ?? "mkv")
            if film.videos + film.sounds == 0 { film.sounds = 1 }
            if film.kind != "mkv" { film.hasSubtitles = false }
            film.length = [1, 1, 8].randomElement(using: &random) ?? 1
            film.start = [0, 0, 40].randomElement(using: &random) ?? 0
            return film
        }

        /// - Returns: The capture that reads the file.
        func make(in directory: TemporaryDirectory) async throws -> String {
            let path = directory.file("film.\(kind)")
            var inputs: [String] = []
            for number in 0..<videos {
                let width = 96 + 32 * number
                inputs += ["-f", "lavfi", "-i", "testsrc2=s=\(width)x64:r=25:d=1"]
            }
            for _ in 0..<sounds { inputs += ["-f", "lavfi", "-i", "sine=d=\(length)"] }
            if hasSubtitles {
                let text = "1\n00:00:00,000 --> 00:00:01,000\nSubtitle\n"
                inputs += ["-i", try directory.write(text, to: "film.srt")]
            }
            let maps = (0..<videos + sounds + (hasSubtitles ? 1 : 0)).flatMap { ["-map", "\($0)"] }
            try await Tool.check(
                "ffmpeg",
                ["-v", "error"] + inputs + maps + [
                    "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac",
                    "-output_ts_offset", "\(start)", path,
                ])
            return reader == "uridecodebin"
                ? "uridecodebin uri=file://\(path)" : "filesrc location=\(path) ! \(reader)"
        }
    }

    @Test(arguments: [
        Film(videos: 1, sounds: 1, reader: "decodebin", container: "mkv"),
        Film(videos: 1, sounds: 2, hasSubtitles: true, reader: "decodebin", container: "mkv"),
        Film(videos: 0, sounds: 1, reader: "decodebin", container: "mkv"),
        Film(videos: 1, sounds: 0, reader: "decodebin", container: "mp4"),
        Film(videos: 2, sounds: 2, reader: "tsdemux", container: "ts"),
        Film(videos: 1, sounds: 1, reader: "qtdemux", container: "mkv", length: 8),
        Film(videos: 1, sounds: 1, reader: "qtdemux", container: "mp4", start: 40),
    ]) func recordsTheFirstVideoAndAudioStreamOfAFile(film: Film) async throws {
        try await check(film)
    }

    @Test func recordsOrNamesEveryStreamOfAFile() async throws {
        var random = SeededGenerator(seed: Self.seed)
        for number in 0..<Self.count {
            try await check(.random(&random), "seed \(Self.seed), case \(number): ")
        }
    }

    private func check(_ film: Film, _ name: String = "") async throws {
        let title = Comment(rawValue: "\(name)\(film.testDescription)")
        try await withTemporaryDirectory { directory in
            let capture = try await film.make(in: directory)
            let path = directory.file("out.\(film.container)")
            let ended = try await GstBridge.run([
                "record", "--report", "json", "--capture", capture, path,
            ])
            #expect(ended.status == 0, "\(title.rawValue): \(ended.errors)")
            let probe = try await MediaProbe(of: path)
            #expect(probe.video?.frames == (film.videos > 0 ? 25 : nil), title)
            // The others are wider.
            #expect(probe.video?.width == (film.videos > 0 ? 96 : nil), title)
            #expect((probe.audio != nil) == (film.sounds > 0), title)
            #expect(probe.streams.count == min(1, film.videos) + min(1, film.sounds), title)
            let named = ended.errors.split(separator: "\n").count { $0.contains("is not captured") }
            let others = max(0, film.videos - 1) + max(0, film.sounds - 1)
            #expect(
                named == others + (film.hasSubtitles ? 1 : 0), "\(title.rawValue): \(ended.errors)")
            let streams = (film.videos > 0 ? ["video"] : []) + (film.sounds > 0 ? ["audio"] : [])
            #expect(try Set(ended.report.captures.keys) == Set(streams), title)
        }
    }

    @Test func failsIfAFileLacksTheRequestedAudio() async throws {
        try await withTemporaryDirectory { directory in
            let film = Film(videos: 1, sounds: 0, reader: "decodebin", container: "mkv")
            let ended = try await GstBridge.run([
                "record", "--audio", "opus", "--capture", try await film.make(in: directory),
                directory.file("out.mkv"),
            ])
            #expect(ended.status == 1)
            #expect(ended.errors.contains("the stream \"audio\" never appeared"))
        }
    }

    @Test func recordsTwoNamedCaptures() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            let ended = try await GstBridge.run([
                "record", "--capture",
                "video=videotestsrc num-buffers=25 ! video/x-raw,framerate=25/1",
                "--capture", "audio=audiotestsrc num-buffers=40", path,
            ])
            #expect(ended.status == 0, "\(ended.errors)")
            let probe = try await MediaProbe(of: path)
            #expect(probe.video?.frames == 25 && probe.audio != nil)
        }
    }

    @Test(arguments: [["a", "b"], ["video=a", "b"], ["cam=a", "cam=b"]])
    func refusesCapturesWithoutDistinctNames(captures: [String]) async throws {
        let ended = try await GstBridge.run(["run"] + captures.flatMap { ["--capture", $0] })
        #expect(ended.status == 64)
        #expect(ended.errors.contains("Give each --capture a different name"))
    }

    @Test func namesAStreamThatIsNotRecorded() async throws {
        try await withTemporaryDirectory { directory in
            let ended = try await GstBridge.run([
                "record", "--capture",
                "videotestsrc num-buffers=5 ! tee name=t t. ! queue ! appsink name=video "
                    + "t. ! queue ! appsink name=other", directory.file("out.mkv"),
            ])
            #expect(ended.status == 0)
            #expect(ended.errors.contains("the stream \"other\" is not recorded"))
        }
    }

    @Test func namesAStreamThatNoOutputTakes() async throws {
        let ended = try await GstBridge.run([
            "run", "--capture",
            "videotestsrc num-buffers=5 ! tee name=t t. ! queue ! appsink name=video "
                + "t. ! queue ! appsink name=other", "--output", "appsrc name=video ! fakesink",
        ])
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(ended.errors.contains("no output takes the stream \"other\""))
    }
}
