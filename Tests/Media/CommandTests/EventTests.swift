import Foundation
import TestSupport
import Testing

extension CommandTests {
    /// `gst-bridge record --when` and `gst-bridge ctl watch`.
    @Suite(.hangGuard) struct EventTests {
        private struct Told: Decodable {
            struct Event: Decodable {
                var detector: String
                var began: Double
                var ended: Double?
            }
            struct Detector: Decodable { var looks, dropped, events: Int }
            struct File: Decodable { var path: String }
            var events: [Event]
            var detectors: [String: Detector]
            var files: [File]
        }
        /// Black for two seconds, then a moving ball.
        private static let capture =
            "concat name=c ! x264enc key-int-max=5 bframes=0 tune=zerolatency sliced-threads=false ! "
            + "h264parse ! appsink name=video"
            + ["black", "ball"].map {
                " videotestsrc pattern=\($0) num-buffers=50 ! "
                    + "video/x-raw,width=160,height=120,framerate=25/1 ! c."
            }.joined()

        @Test func motionInAFileIsReportedAndRecorded() async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("out.mkv")
                let ended = try await GstBridge.run([
                    "record", "--capture", Self.capture, path, "--when", "motion=1", "--when",
                    "black",
                    "--before", "1s", "--after", "0", "--report", "json",
                ])
                #expect(ended.status == 0, "\(ended.errors)")
                let line = try #require(ended.output.split(separator: "\n").last)
                let told = try JSONDecoder().decode(Told.self, from: Data(line.utf8))
                #expect(told.events.map(\.detector).sorted() == ["black", "motion"])
                #expect(told.detectors.mapValues(\.looks) == ["motion": 20, "black": 20])
                // Black from the first picture on, so that everything is recorded.
                #expect(told.files.map(\.path) == [path])
                #expect(try await MediaProbe.videoTimes(of: path).count == 100)
                #expect(ended.errors.contains("motion at 2.00 s"))
            }
        }

        @Test func eachEventGetsAPictureACommandAndAChapter() async throws {
            try await withTemporaryDirectory { directory in
                let (path, log) = (directory.file("it's a film.mkv"), directory.file("log"))
                let ended = try await GstBridge.run([
                    "record", "--capture", Self.capture, path, "--when", "motion=1", "--before",
                    "1s", "--after", "0", "--event-pictures", "--on-event",
                    #"printf '%s\n' {kind} {file} {time} {picture} >> '\#(log)'; echo "$EVENT_KIND" >> '\#(log)'"#,
                ])
                #expect(ended.status == 0, "\(ended.errors)")
                let picture = directory.file("it's a film-1.jpg")
                #expect(
                    try String(contentsOfFile: log, encoding: .utf8)
                        == "motion\n\(path)\n1.000\n\(picture)\nmotion\n")
                // The first picture with the ball.
                let brightest = try await MediaProbe.luma(of: picture, columns: 16, rows: 12)
                    .flatMap(\.self).max()
                #expect(try #require(brightest) > 100)
                let chapters = try await Tool.check(
                    "ffprobe",
                    ["-v", "error", "-show_entries", "chapter=start:chapter_tags=title"]
                        + ["-of", "csv=p=0", path])
                #expect(chapters.contains("1000000000,motion"), "\(chapters)")
            }
        }

        @Test func aCommandThatFailsIsReported() async throws {
            try await withTemporaryDirectory { directory in
                let ended = try await GstBridge.run([
                    "record", "--capture", Self.capture, directory.file("out.mkv"), "--when",
                    "motion=1", "--on-event", "exit 3 # {kind}",
                ])
                #expect(ended.status == 1)
                #expect(ended.errors.contains("ended with 3: exit 3 # {kind}"))
            }
        }

        @Test func ringRemovesEventPicturesWithTheirFiles() async throws {
            try await withTemporaryDirectory { directory in
                for number in 0...1 {
                    let ended = try await GstBridge.run([
                        "record", "--capture", Self.capture, directory.file("film.mkv"), "--when",
                        "motion=1", "--before", "0", "--keep", "1", "--event-pictures",
                    ])
                    #expect(ended.status == 0, "\(ended.errors)")
                    let rest = try FileManager.default.contentsOfDirectory(atPath: directory.path)
                    let (film, picture) = ("film-0000\(number).mkv", "film-0000\(number)-1.jpg")
                    #expect(rest.filter { !$0.hasPrefix(".") }.sorted() == [picture, film])
                }
            }
        }

        @Test func controlClientReceivesEventsAndFileNames() async throws {
            try await withTemporaryDirectory { directory in
                let (path, socket) = (directory.file("out.mkv"), directory.file("socket"))
                let live =
                    "videotestsrc is-live=true pattern=ball ! video/x-raw,width=160,height=120,framerate=25/1"
                try await withChildProcess(
                    Tool.gstBridge,
                    [
                        "record", "--capture", live, path, "--when", "motion=1", "--before", "0",
                        "--control", socket, "--idle",
                    ]
                ) { recording in
                    try await recording.waitForErrors(to: "be ready") {
                        $0.contains("begins a file")
                    }
                    try await withChildProcess(Tool.gstBridge, ["ctl", socket, "watch"]) { watch in
                        try await watch.waitForOutput(#"{"ok":true}"#)
                        let started = try await GstBridge.run(["ctl", socket, "start"])
                        #expect(started.status == 0)
                        try await recording.waitForErrors(to: "record") {
                            $0.contains("recording \(path)")
                        }
                        recording.send(signal: SIGINT)
                        let lines = try await watch.end().output
                        #expect(lines.contains(#""type":"fileStarted""#))
                        #expect(lines.contains(#""type":"fileFinished""#))
                        #expect(lines.contains(#""detector":"motion""#))
                    }
                    #expect(try await recording.end().status == 0)
                }
            }
        }

        @Test(arguments: [
            ["--before", "1s"], ["--when", "movement"], ["--when", "motion", "--overwrite"],
            ["--when", "motion", "--replay", "3s"], ["--on-event", "true"], ["--event-pictures"],
            ["--when", "motion", "--on-event", "mail {picture}"],
        ]) func wrongUsageIsRefused(options: [String]) async throws {
            let ended = try await GstBridge.run(["record", "none.mkv"] + options)
            #expect(ended.status == 64)
        }
    }
}
