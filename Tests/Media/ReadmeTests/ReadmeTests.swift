import Foundation
import MediaBridge
import TestSupport
import Testing

/// The code that the README and the articles show is compiled and run here.
@Suite(.hangGuard)
struct ReadmeTests {
    private var readme: String { get throws { try Repository.text("README.md") } }

    @Test(arguments: [
        ("README", "README.md", 2),
        ("Frames", "Sources/MediaBridge/MediaBridge.docc/Frames.md", 3),
        ("EncodedFrames", "Sources/MediaBridge/MediaBridge.docc/EncodedFrames.md", 1),
        ("Engine", "Sources/MediaBridge/MediaBridge.docc/Engine.md", 2),
        ("Channels", "Sources/MediaBridge/MediaBridge.docc/Channels.md", 1),
        ("Recording", "Sources/MediaBridge/MediaBridge.docc/Recording.md", 1),
        ("ComingFromAgora", "Sources/MediaBridge/MediaBridge.docc/ComingFromAgora.md", 1),
        ("Sound", "Sources/MediaBridge/MediaBridge.docc/Sound.md", 3),
        ("ComingFromOpenTok", "Sources/MediaBridge/MediaBridge.docc/ComingFromOpenTok.md", 1),
        ("Programs", "Sources/MediaBridge/MediaBridge.docc/Programs.md", 5),
    ])
    func articlesContainTheExamplesVerbatim(mark: String, file: String, count: Int) throws {
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Examples.swift")
        let examples = try String(contentsOf: path, encoding: .utf8)
            .components(separatedBy: "        // \(mark)\n").dropFirst()
            .compactMap { $0.components(separatedBy: "        // end\n").first }
        #expect(examples.count == count)
        let text = try Repository.text(file)
        for example in examples {
            let lines = example.split(separator: "\n", omittingEmptySubsequences: false)
            let shown = lines.map { $0.hasPrefix("        ") ? $0.dropFirst(8) : $0 }
                .joined(separator: "\n")
            #expect(text.contains(shown), "not in \(file):\n\(shown)")
        }
    }

    @Test func readmeCommandRecordsItsFrames() async throws {
        let text = try readme
        let block = try #require(
            text.components(separatedBy: "<!-- run -->\n```sh\n").dropFirst().first?
                .components(separatedBy: "```").first)
        try await withTemporaryDirectory { directory in
            let command = try block.replacingOccurrences(
                of: "gst-bridge", with: "\"\(Tool.gstBridge)\"")
            try await Tool.check("bash", ["-c", "cd \"\(directory.path)\" && \(command)"])
            let video = try await MediaProbe(of: directory.file("one.mkv")).video
            #expect(video?.frames == 90)
        }
    }

    @Test func oneCallExampleRecordsItsFrames() async throws {
        try await withTemporaryDirectory { directory in
            await #expect(processExitsWith: .success) { [path = directory.path as String] in
                try enter(path)
                try await Example.oneCall()
            }
            let probe = try await MediaProbe(of: directory.file("two.mkv"))
            #expect(probe.video?.frames == 90)
        }
    }

    @Test func planExampleRecordsInBlackAndWhite() async throws {
        try await withTemporaryDirectory { directory in
            await #expect(processExitsWith: .success) { [path = directory.path as String] in
                try enter(path)
                try await Example.plan()
            }
            let path = directory.file("three.mkv")
            #expect(try await MediaProbe(of: path).video?.frames == 90)
            let colour = try await MediaProbe.colour(of: path)
            #expect(abs(colour.red - colour.green) <= 4 && abs(colour.green - colour.blue) <= 4)
        }
    }

    @Test func engineArticleClassesSeeEveryFrame() async throws {
        let balance = try await Example.ownClasses()
        #expect(balance.offered == 90)
    }

    @Test func loopExampleRecordsFramesWithALine() async throws {
        try await withTemporaryDirectory { directory in
            await #expect(processExitsWith: .success) { [path = directory.path as String] in
                try enter(path)
                try await Example.sequence()
            }
            let path = directory.file("three.mkv")
            #expect(try await MediaProbe(of: path).video?.frames == 90)
            let luma = try await MediaProbe.luma(of: path, columns: 1, rows: 360)
            #expect(luma.allSatisfy { $0[180] > 200 })
        }
    }

    @Test func channelExampleSendsItsVideo() async throws {
        try await Example.channel()
    }

    @Test func encodedFramesExampleCopiesTheStartOfTheFile() async throws {
        try await withTemporaryDirectory { directory in
            try await Tool.check(
                "gst-launch-1.0",
                [
                    "-q", "videotestsrc", "num-buffers=90", "!", "x264enc", "key-int-max=30", "!",
                    "mp4mux", "!", "filesink", "location=\(directory.file("film.mp4"))",
                ])
            await #expect(processExitsWith: .success) { [path = directory.path as String] in
                try enter(path)
                try await Example.encodedFrames()
            }
            let (film, start) = try await (
                MediaProbe.packets(of: directory.file("film.mp4")),
                MediaProbe.packets(of: directory.file("start.mkv"))
            )
            #expect(start.count >= 58 && Array(film.prefix(start.count)) == start)
        }
    }

    @Test func engineExampleRecordsInBlackAndWhite() async throws {
        try await withTemporaryDirectory { directory in
            await #expect(processExitsWith: .success) { [path = directory.path as String] in
                try enter(path)
                try await Example.engine()
            }
            let path = directory.file("four.mkv")
            #expect(try await MediaProbe(of: path).video?.frames == 90)
            let colour = try await MediaProbe.colour(of: path)
            #expect(abs(colour.red - colour.green) <= 4 && abs(colour.green - colour.blue) <= 4)
        }
    }

    /// Tests in media time cover how long before the start the file begins.
    @Test func recordingExampleMatchesItsReport() async throws {
        try await withTemporaryDirectory { directory in
            _ = await #expect(processExitsWith: .success) { [path = directory.path as String] in
                try enter(path)
                let report = try await Example.recording()
                let probe = try await MediaProbe(of: "five.mkv")
                try #require(report.files.map(\.path) == ["five.mkv"])
                try #require(probe.video?.frames == report.files[0].frames)
                try #require(report.files[0].frames > 0 && probe.audio?.frames ?? 0 > 0)
            }
        }
    }

    @Test func audioExampleWritesEverySample() async throws {
        try await withTemporaryDirectory { directory in
            await #expect(processExitsWith: .success) { [path = directory.path as String] in
                try enter(path)
                try await Example.sound()
            }
            let samples = try await MediaProbe.audioSamples(of: directory.file("quiet.flac"))
            #expect(samples == 102_400)
        }
    }

    @Test func bridgeExampleWritesEverySample() async throws {
        try await withTemporaryDirectory { directory in
            await #expect(processExitsWith: .success) { [path = directory.path as String] in
                try enter(path)
                try await Example.quietBridge()
            }
            let samples = try await MediaProbe.audioSamples(of: directory.file("quieter.flac"))
            #expect(samples == 102_400)
        }
    }

    @Test func fileExampleDeliversVideoAndAudio() async throws {
        try await withTemporaryDirectory { directory in
            try await Clip().make(at: directory.file("film.mkv"))
            await #expect(processExitsWith: .success) { [path = directory.path as String] in
                try enter(path)
                let engine = MediaEngine()
                try await Example.film(engine)
                #expect(await engine.isAudioEnabled)
                await engine.shutDown()
            }
        }
    }

    @Test func everyListedExampleIsACommand() async throws {
        let text = try Repository.text("Sources/MediaBridge/MediaBridge.docc/Engine.md")
        let commands = text.split(separator: "\n").compactMap { line in
            line.wholeMatch(of: /swift run bridge-examples ([a-z-]+) .*/).map {
                String($0.output.1)
            }
        }
        let help = try await Tool.check(Tool.built("bridge-examples"), ["--help"])
        let subcommands = help.split(separator: "\n").compactMap { line in
            line.prefixMatch(of: #/  ([a-z-]+)  /#).map { String($0.output.1) }
        }
        #expect(commands.count == 8)
        #expect(Set(commands) == Set(subcommands))
    }

    @Test func pushAndRendererExamplesWorkTogether() async throws {
        let engine = MediaEngine()
        try await Example.renderer(engine)
        let bytes = [UInt8](repeating: 128, count: 384 * 240 * 3 / 2)
        try await Example.pushMode(engine, bytes)
        await engine.shutDown()
        #expect(drawnRows.withLock { $0 } == 240)
    }

    @Test func planesExampleReadsAFrame() async throws {
        var count = 0
        for try await frame in try PipelineVideoSource(
            "videotestsrc num-buffers=1 ! video/x-raw,format=I420"
        ).frames() {
            try Example.planes(frame)
            count += 1
        }
        #expect(count == 1)
    }
}

/// Makes a directory the current directory of this process, because the examples write to the
/// current directory. Call it only in a process that runs nothing else: a program that another test
/// starts meanwhile inherits the directory, and loses it when it is removed.
func enter(_ path: String) throws {
    try #require(FileManager.default.changeCurrentDirectoryPath(path))
}
