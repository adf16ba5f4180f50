import Foundation
import TestSupport
import Testing

extension CommandTests {
    /// `gst-bridge record` leaves a playable file however it ends.
    @Suite(.hangGuard) struct RecordTests {
        private static let picture =
            "! video/x-raw,format=I420,width=160,height=120,framerate=30/1 ! appsink name=video"
        private static let sound = "! audio/x-raw,rate=48000,channels=2 ! appsink name=audio"
        private static let live =
            "videotestsrc is-live=true \(picture) audiotestsrc is-live=true samplesperbuffer=480 \(sound)"

        private static func film(frames: Int) -> String {
            "videotestsrc num-buffers=\(frames) \(picture) "
                + "audiotestsrc samplesperbuffer=1600 num-buffers=\(frames) \(sound)"
        }

        /// The fields that a recording adds to the report.
        private struct Recorded: Decodable {
            struct File: Decodable {
                var path: String
                var frames: Int
                var seconds: Double
                var bytes: Int
            }
            var files: [File]
            var encoders: [String: String]

            init(_ ended: Ended) throws {
                let line = try #require(ended.output.split(separator: "\n").last, "\(ended.errors)")
                self = try JSONDecoder().decode(Self.self, from: Data(line.utf8))
            }
        }

        @Test(arguments: ["mkv", "mp4", "webm", "ts"])
        func everyFrameOfAFileIsRecorded(ending: String) async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("out.\(ending)")
                let ended = try await GstBridge.run([
                    "record", "--capture", Self.film(frames: 60), path, "--report", "json",
                ])
                #expect(ended.status == 0, "\(ended.errors)")
                let report = try ended.report
                #expect(report.ended == "eos" && report.outputs["recording"]?.frames == 60)
                #expect(report.outputs["recording"]?.dropped == 0)
                let recorded = try Recorded(ended)
                #expect(recorded.files.map(\.path) == [path] && recorded.files[0].frames == 60)
                #expect(recorded.encoders["video"] == (ending == "webm" ? "vp8enc" : "x264enc"))
                let probe = try await MediaProbe(of: path)
                #expect(probe.video?.frames == 60 && probe.audio?.channels == 2)
                #expect(try await MediaProbe.audioSamples(of: path) >= 96_000)
            }
        }

        @Test(arguments: ["png", "jpg"])
        func numberedPicturesFormASequence(ending: String) async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("frames-%03d.\(ending)")
                func record(_ frames: Int, _ options: String...) async throws -> Ended {
                    try await GstBridge.run(
                        [
                            "record", "--capture",
                            "videotestsrc num-buffers=\(frames) \(Self.picture)", path,
                            "--report", "json",
                        ] + options)
                }
                let first = try await record(30)
                #expect(first.status == 0, "\(first.errors)")
                #expect(try first.report.outputs["recording"]?.frames == 30)
                let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
                    .sorted()
                #expect(names.first == "frames-000.\(ending)" && names.count == 30)
                #expect(names.last == "frames-029.\(ending)")
                #expect(try await MediaProbe.pictures(of: path).count == 30)
                let again = try await record(10)
                #expect(again.status != 0 && again.errors.contains("frames-000"), "\(again.errors)")
                let over = try await record(10, "--overwrite")
                #expect(
                    over.status == 0
                        && over.errors.contains("frames-010.\(ending) and those behind it"))
                let refused = try await record(10, "--overwrite", "--segment", "1s")
                #expect(refused.status != 0)
            }
        }

        /// Loading the encoder with the first audio would delay the video: libav is large.
        @Test func loadsTheEncodersBeforeMediaArrives() async throws {
            try await withTemporaryDirectory { directory in
                let ended = try await GstBridge.run(
                    [
                        "record", "--capture",
                        "videotestsrc num-buffers=5 \(Self.picture) "
                            + "audiotestsrc num-buffers=0 ! appsink name=audio",
                        directory.file("out.mp4"),
                    ],
                    environment: ["GST_DEBUG": "GST_PLUGIN_LOADING:4", "GST_DEBUG_NO_COLOR": "1"])
                let lines = ended.errors.split(separator: "\n")
                func loading(_ plugin: String) -> Int? {
                    lines.firstIndex { $0.contains("\(plugin).so\" loaded") }
                }
                // No audio arrives, and the muxer was loaded before the first frame.
                #expect(loading("libgstlibav") != nil, "\(ended.errors)")
                let first = try #require(lines.firstIndex { $0.contains("recording ") })
                #expect(loading("libgstisomp4").map { $0 < first } == true, "\(ended.errors)")
            }
        }

        @Test func signalSavesAReplayAndTheRunContinues() async throws {
            struct Replays: Decodable {
                var replays: [Recorded.File]
            }
            try await withTemporaryDirectory { directory in
                let (path, raw) = (directory.file("out.mkv"), directory.file("raw"))
                #expect(mkfifo(raw, 0o600) == 0)
                for name in ["out-00001.mkv", "out-00006.mkv"] {
                    _ = try directory.write("theirs", to: name)
                }
                let ended = try await withChildProcess(
                    Tool.gstBridge,
                    [
                        "record", "--replay", "1s", "--capture", Self.live, path, "--report",
                        "json",
                        "--output", "appsrc name=video ! filesink location=\(raw)",
                    ]
                ) { child in
                    // Reads 45 frames, prints a line, and continues reading.
                    let reader = try ChildProcess(
                        "sh",
                        [
                            "-c",
                            """
                            { dd of=/dev/null bs=28800 count=45 iflag=fullblock; echo enough; \
                            cat >/dev/null; } <"$0"
                            """, raw,
                        ])
                    defer { reader.send(signal: SIGKILL) }
                    try await reader.waitForOutput("enough")
                    for number in 7..<10 {
                        child.send(signal: SIGUSR1)
                        try await child.waitForErrors(to: "save replay \(number)") {
                            $0.contains("saved \(directory.file("out-0000\(number).mkv"))")
                        }
                    }
                    return try await child.stop()
                }
                #expect(ended.status == 0, "\(ended.errors)")
                let line = try #require(ended.output.split(separator: "\n").last)
                let replays = try JSONDecoder().decode(Replays.self, from: Data(line.utf8)).replays
                #expect(replays.count == 3)
                for replay in replays {
                    let probe = try await MediaProbe(of: replay.path)
                    #expect(probe.video?.frames == replay.frames && probe.audio?.channels == 2)
                    #expect(replay.frames > 0)
                }
                for name in ["out-00001.mkv", "out-00006.mkv"] {
                    #expect(
                        try String(contentsOfFile: directory.file(name), encoding: .utf8)
                            == "theirs")
                }
                #expect(!FileManager.default.fileExists(atPath: path))
            }
        }

        @Test func replaySignalDoesNotAffectOtherRecordings() async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("out.mkv")
                let ended = try await withChildProcess(
                    Tool.gstBridge, ["record", "--capture", Self.live, path]
                ) { child in
                    try await child.waitForErrors(to: "begin the file") {
                        $0.contains("recording \(path)")
                    }
                    child.send(signal: SIGUSR1)
                    try await child.waitForErrors(to: "refuse the signal") {
                        $0.contains(
                            "cannot save a replay: this recording keeps no media for it. Try: --replay 30s"
                        )
                    }
                    return try await child.stop()
                }
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(try await MediaProbe(of: path).video?.frames ?? 0 > 0)
            }
        }

        @Test func aSocketControlsARecording() async throws {
            struct Answer: Decodable {
                var ok: Bool
                var state: String
                var files: [Recorded.File]?
            }
            try await withTemporaryDirectory { directory in
                let (path, socket) = (directory.file("out.mp4"), directory.file("socket"))
                func ask(_ request: String...) async throws -> (status: Int32, answer: Answer) {
                    let ended = try await GstBridge.run(["ctl", socket] + request)
                    return (
                        ended.status,
                        try JSONDecoder().decode(Answer.self, from: Data(ended.output.utf8))
                    )
                }
                let ended = try await withChildProcess(
                    Tool.gstBridge,
                    [
                        "record", "--capture", Self.live, path, "--control", socket, "--idle",
                        "--report", "json",
                    ]
                ) { child in
                    try await child.waitForErrors(to: "be ready") {
                        $0.contains("nothing is recorded; the request \"start\" begins a file")
                    }
                    #expect(try await ask("status").answer.state == "idle")
                    #expect(try await ask("start").answer.state == "recording")
                    try await child.waitForErrors(to: "begin the file") {
                        $0.contains("recording \(path)")
                    }
                    #expect(try await ask("mark", "second", "goal").status == 0)
                    child.send(signal: SIGUSR2)
                    try await child.waitForErrors(to: "place both marks") {
                        $0.contains("marked \"second goal\" at") && $0.contains("marked \"mark 1\"")
                    }
                    let stopped = try await ask("stop")
                    #expect(stopped.status == 0 && stopped.answer.files?.map(\.path) == [path])
                    let wrong = try await ask("stop")
                    #expect(wrong.status == 1 && wrong.answer.state == "idle")
                    return try await child.stop()
                }
                #expect(ended.status == 0, "\(ended.errors)")
                let line = try #require(ended.output.split(separator: "\n").last)
                let recorded = try JSONDecoder().decode(Recorded.self, from: Data(line.utf8))
                #expect(recorded.files.map(\.path) == [path])
                let chapters = try await Tool.check(
                    "ffprobe", ["-v", "error", "-show_chapters", "-of", "csv=p=0", path])
                #expect(chapters.contains("second goal") && chapters.contains("mark 1"))
                #expect(!FileManager.default.fileExists(atPath: socket))
            }
        }

        @Test(arguments: [SIGINT, SIGTERM], ["mkv", "mp4", "webm", "ts"])
        func aSignalCompletesTheFile(signal: Int32, ending: String) async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("out.\(ending)")
                let ended = try await withChildProcess(
                    Tool.gstBridge,
                    [
                        "record", "--capture", Self.live, path, "--report", "json", "--progress",
                        "always",
                    ], environment: ["DISPLAY": ""]
                ) { child in
                    try await child.waitForErrors(to: "record") {
                        InterruptionTests.framesSoFar($0) > 0
                    }
                    child.send(signal: signal)
                    return Ended(try await child.end())
                }
                #expect(ended.status == 0, "\(ended.errors)")
                let report = try ended.report
                #expect(report.ended == "interrupt")
                let frames = try #require(report.outputs["recording"]?.frames)
                #expect(frames > 0)
                #expect(try await MediaProbe(of: path).video?.frames == frames)
            }
        }

        @Test func failedCaptureIsReportedAndLeavesACompleteFile() async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("out.mp4")
                let ended = try await GstBridge.run([
                    "record", "--capture",
                    "videotestsrc ! video/x-raw,width=160,height=120 ! identity error-after=31",
                    path, "--report", "json",
                ])
                #expect(ended.status == 1)
                #expect(ended.errors.contains("Failed after iterations as requested"))
                #expect(try ended.report.ended == "error")
                #expect(try ended.report.outputs["recording"]?.frames == 30)
                #expect(try await MediaProbe(of: path).video?.frames == 30)
            }
        }

        @Test func recordingAppliesItsOptions() async throws {
            try await withTemporaryDirectory { directory in
                let log = directory.file("log.jsonl")
                let ended = try await GstBridge.run(
                    [
                        "record", "--capture", Self.film(frames: 90),
                        directory.file("%Y%%/%H%M%S.mp4"), "--segment", "2s", "--align", "--utc",
                        "--keep-age", "1d", "--keep-size", "1G", "--keep-free", "1", "--size",
                        "64x48", "--fragmented", "--durable", "--timestamps", log, "--report",
                        "json",
                    ], environment: ["TZ": "Asia/Kolkata"])
                #expect(ended.status == 0, "\(ended.errors)")
                let files = try Recorded(ended).files
                #expect(files.map(\.frames).reduce(0, +) == 90 && [2, 3].contains(files.count))
                let path = try #require(files.last?.path)
                // The hour in UTC differs from that of the time zone by half an hour.
                let minute = Calendar(identifier: .gregorian).component(.minute, from: .now)
                let name = try #require(path.split(separator: "/").last)
                let recorded = try #require(Int(name.dropFirst(2).prefix(2)))
                // A film is read faster than it plays, so its last file may begin in the next minute.
                #expect((0...3).contains((minute + 1 - recorded + 60) % 60), "\(name)")
                #expect(
                    path.split(separator: "/").dropLast().last?.hasSuffix("%") == true, "\(path)")
                #expect(try await MediaProbe(of: path).video?.width == 64)
                let bytes = try Data(contentsOf: URL(filePath: path))
                #expect(bytes.range(of: Data("moof".utf8)) != nil)
                let lines = try String(contentsOfFile: log, encoding: .utf8)
                #expect(lines.components(separatedBy: "\"stream\":\"video\"").count > 90)
            }
        }

        @Test func oldAndExcessSegmentsAreDeleted() async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("out.mkv")
                func record(_ options: [String]) async throws -> [String] {
                    let ended = try await GstBridge.run(
                        ["record", "--capture", Self.film(frames: 90), path] + options)
                    #expect(ended.status == 0, "\(ended.errors)")
                    return directory.contents
                }
                let first = try await record(["--segment-size", "20k"])
                #expect(first.count > 1, "\(first)")
                for name in first {
                    try FileManager.default.setAttributes(
                        [.modificationDate: Date(timeIntervalSinceNow: -100)],
                        ofItemAtPath: directory.file(name))
                }
                let second = try await record(["--segment", "1s", "--keep-age", "60s"])
                #expect(Set(first).isDisjoint(with: second) && second.count == 3, "\(second)")
                let third = try await record(["--segment", "1s", "--keep-size", "1"])
                #expect(third.count == 1, "\(third)")
            }
        }

        /// The terminal takes requests, and shows the progress.
        @Test(.enabled(if: PseudoTerminal.isAvailable, "no pseudo-terminals: mount /dev/pts"))
        func terminalAcceptsRequests() async throws {
            try await withTemporaryDirectory { directory in
                let (path, log) = (directory.file("out.mkv"), directory.file("log"))
                // Without "exec", the shell would get the terminal's signals, too.
                let record = "exec '\(try Tool.gstBridge)' record --capture '\(Self.live)' \(path)"
                func until(_ text: String) -> String {
                    "until grep -qs '\(text)' \(log); do sleep 0.1; done; "
                }
                let typed =
                    until("recording") + "echo; " + until("mark 1") + "echo mark goal; "
                    + until("goal..at") + until(" fps ") + "printf '\\003'; " + until(" ended by ")
                // -f writes the log at once.
                let ended = try await Tool.run(
                    "sh", ["-c", "(\(typed)) | script -qefc \"\(record)\" \(log)"])
                let screen = try String(contentsOfFile: log, encoding: .utf8)
                #expect(ended.status == 0, "\(screen)\(ended.errors)")
                let chapters = try await Tool.check(
                    "ffprobe", ["-v", "error", "-show_chapters", path])
                #expect(chapters.contains("mark 1") && chapters.contains("goal"))
            }
        }

        @Test func segmentsAreCutByTimeAndTheNewestAreKept() async throws {
            try await withTemporaryDirectory { directory in
                let ended = try await GstBridge.run([
                    "record", "--capture", Self.film(frames: 150), directory.file("out.mkv"),
                    "--segment", "1s", "--keep", "2", "--report", "json",
                ])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(directory.contents == ["out-00003.mkv", "out-00004.mkv"])
                #expect(try Recorded(ended).files.map(\.frames) == [30, 30])
                #expect(try ended.report.outputs["recording"]?.frames == 150)
            }
        }

        @Test func aPipelineFileIsRecordedBesideItsOutputs() async throws {
            try await withTemporaryDirectory { directory in
                let file = try directory.write(
                    """
                    about: a test
                    variables:
                      frames: {default: 45, meaning: how many}
                    capture: |
                      videotestsrc num-buffers=${frames} ! video/x-raw,width=160,height=120
                    outputs:
                      preview: |
                        fakesink
                    """, to: "capture.yaml")
                let path = directory.file("out.mkv")
                let ended = try await GstBridge.run([
                    "record", file, path, "--set", "frames=20", "--video", "mjpeg", "--report",
                    "json",
                ])
                #expect(ended.status == 0, "\(ended.errors)")
                let report = try ended.report
                #expect(report.outputs["preview"]?.frames == 20)
                #expect(report.outputs["recording"]?.frames == 20)
                #expect(try await MediaProbe(of: path).video?.codec == "mjpeg")
            }
        }

        @Test func failedRecordingKeepsExistingFilesAndReportsTheCause() async throws {
            try await withTemporaryDirectory { directory in
                let there = try directory.write("precious", to: "out.mkv")
                let missing = try await GstBridge.run([
                    "record", "--capture", "filesrc location=/nowhere.mp4 ! decodebin", there,
                    "--overwrite",
                ])
                #expect(missing.status == 1 && missing.errors.contains("/nowhere.mp4"))
                #expect(try String(contentsOfFile: there, encoding: .utf8) == "precious")

                for (arguments, words) in [
                    (["/nowhere/out.mkv"], "directory \"/nowhere\" not found"),
                    (["out.avi"], ".mkv, .mp4"),
                    ([directory.file("a.webm"), "--video", "h264"], "webm cannot contain h264"),
                ] {
                    let ended = try await GstBridge.run(
                        ["record", "--capture", "videotestsrc num-buffers=5"] + arguments)
                    #expect(ended.status == 1 && ended.errors.contains(words), "\(ended.errors)")
                }
            }
        }

        @Test(arguments: [
            ("videotestsrc num-buffers=5 ! x264enc ! h264parse", "--bitrate"),
            ("audiotestsrc num-buffers=50 ! vorbisenc ! vorbisparse", "--audio-bitrate"),
        ])
        func refusesABitRateForEncodedMedia(capture: String, option: String) async throws {
            try await withTemporaryDirectory { directory in
                let ended = try await GstBridge.run([
                    "record", "--capture", capture, option, "100k", directory.file("a.mkv"),
                ])
                #expect(ended.status == 1)
                #expect(ended.errors.contains("decodebin"), "\(ended.errors)")
            }
        }

        @Test(arguments: [
            ["a.mkv", "--video", "mjpeg", "--bitrate", "1M"],
            ["a.mkv", "--video", "ffv1", "--bitrate", "1M"],
            ["a.mkv", "--audio", "flac", "--audio-bitrate", "64k"],
            ["a.flac", "--audio-bitrate", "64k"], ["a.wav", "--audio-bitrate", "64k"],
        ])
        func refusesABitRateForCodecsWithoutOne(arguments: [String]) async throws {
            try await withTemporaryDirectory { directory in
                let ended = try await GstBridge.run(
                    ["record", "--capture", Self.film(frames: 5), directory.file(arguments[0])]
                        + arguments.dropFirst())
                #expect(ended.status == 1)
                #expect(ended.errors.contains("has no bit rate"), "\(ended.errors)")
                #expect(directory.contents.isEmpty)
            }
        }

        @Test(arguments: [
            ["record"], ["record", "a.mkv", "--keep", "3"], ["record", "a.yaml", "b.mkv", "c.mkv"],
            ["record", "a.mkv", "--video", "theora"], ["record", "a.mkv", "--bitrate", "fast"],
            ["record", "a.mkv", "--set", "a=b"], ["record", "a.mkv", "--segment", "0s"],
            ["record", "a.mkv", "--video", "copy", "--bitrate", "1M"],
            ["record", "a.mkv", "--video", "none", "--size", "64x48"],
            ["record", "a.mkv", "--audio", "copy", "--audio-bitrate", "64k"],
        ])
        func wrongUsageExits64(arguments: [String]) async throws {
            #expect(try await GstBridge.run(arguments).status == 64)
        }
    }
}
