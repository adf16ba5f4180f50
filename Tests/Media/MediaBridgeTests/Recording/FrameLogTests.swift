import Foundation
import TestSupport
import Testing

@testable import MediaBridge

/// The lines of JSON that a recording writes for its frames.
@Suite("Frame log", .hangGuard) struct FrameLogTests {
    private struct Line: Decodable {
        var type: String
        var stream: String?
        var file: String?
        var time: Double?
        var wall: String?
        var index: Int?
        var key: Bool?
        var bytes: Int?
        var seconds: Double?
        var cause: String?
        var count: Int?
        var name: String?

        /// Seconds since 1970.
        var captured: Double {
            get throws {
                let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
                // The format reads milliseconds.
                let wall = try #require(wall)
                let micros = try #require(Double(wall.dropFirst(20).dropLast()))
                let whole = try Date(String(wall.prefix(19)) + ".000Z", strategy: format)
                return whole.timeIntervalSince1970 + micros / 1e6
            }
        }
    }

    private static func lines(of path: String) throws -> [Line] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map {
            try JSONDecoder().decode(Line.self, from: Data($0.utf8))
        }
    }

    private struct Packet: Equatable {
        var time: Double
        var isKey: Bool
    }

    /// The packets of a stream, as ffmpeg reads them.
    private static func packets(of path: String, _ stream: String) async throws -> [Packet] {
        try await Tool.check(
            "ffprobe",
            [
                "-v", "error", "-select_streams", stream, "-show_entries",
                "packet=pts_time,flags", "-of", "csv=p=0", path,
            ]
        ).split(separator: "\n").map {
            let fields = $0.split(separator: ",")
            return Packet(time: Double(fields[0]) ?? -1, isKey: fields[1].hasPrefix("K"))
        }
    }

    @Test(arguments: ["mkv", "mp4", "webm", "ts"])
    func everyPacketOfEveryFileHasALine(ending: String) async throws {
        try await withTemporaryDirectory { directory in
            let (path, log) = (directory.file("out.\(ending)"), directory.file("out.jsonl"))
            var plan = BridgePlan(
                capture:
                    "videotestsrc num-buffers=70 ! video/x-raw,width=64,height=48,framerate=25/1 "
                    + "! appsink name=video audiotestsrc num-buffers=140 samplesperbuffer=960 "
                    + "! audio/x-raw,rate=48000 ! appsink name=audio")
            plan.recordings = [BridgePlan.Recording(path: path, audio: AudioEncoding())]
            plan.recordings[0].configuration.segments = RecordingSegments(length: .seconds(1))
            plan.recordings[0].configuration.frameLog = log
            let bridge = try Bridge(plan)
            _ = await bridge.run()
            let report = bridge.recorders[0].report
            let lines = try Self.lines(of: log)
            #expect(report.files.count == 3 && lines.allSatisfy { $0.type == "frame" })
            for file in report.files {
                let began = file.began.timeIntervalSince1970
                // A transport stream begins at one hour.
                let zero = ending == "ts" ? 3600.0 : 0
                for (kind, stream) in [("video", "v:0"), ("audio", "a:0")] {
                    let own = lines.filter { $0.file == file.path && $0.stream == kind }
                    let packets = try await Self.packets(of: file.path, stream)
                    #expect(own.compactMap(\.index) == Array(0..<packets.count))
                    #expect(own.count == packets.count)
                    for (line, packet) in zip(own, packets) {
                        #expect(line.key == packet.isKey)
                        // ffmpeg reads Opus earlier by what its decoder skips.
                        #expect(abs((line.time ?? -1) + zero - packet.time) < 0.008)
                        #expect(abs(try line.captured - began - (line.time ?? -1)) < 0.0005)
                    }
                }
            }
        }
    }

    @Test func theLogOfAKilledRecordingHasEveryFrameOfTheFile() async throws {
        try await withTemporaryDirectory { directory in
            let (path, log) = (directory.file("out.mkv"), directory.file("out.jsonl"))
            let text: @Sendable () -> String = {
                (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
            }
            try await withChildProcess(
                Tool.gstBridge,
                [
                    "record", "--capture",
                    "videotestsrc is-live=true ! video/x-raw,width=64,height=48,framerate=25/1",
                    path, "--timestamps", log, "--progress", "always",
                ]
            ) { child in
                try await child.waitForErrors(to: "record") { _ in
                    text().split(separator: "\n").count > 40
                }
                child.send(signal: SIGKILL)
                _ = try await child.end()
            }
            let lines = text().split(separator: "\n")
            let whole = lines.filter {
                (try? JSONDecoder().decode(Line.self, from: Data($0.utf8)))?.type == "frame"
            }
            #expect(lines.count - whole.count <= 1)
            let packets = try await Self.packets(of: path, "v:0")
            #expect(
                (0...5).contains(whole.count - packets.count), "\(whole.count), \(packets.count)")
        }
    }

    @Test func gapsMarksAndDropsHaveLinesAndDropsAddUp() async throws {
        try await withTemporaryDirectory { directory in
            let log = directory.file("out.jsonl")
            var configuration = Recorder.Configuration()
            configuration.whenFull = .wait
            configuration.frameLog = log
            let recorder = try Recorder(directory.file("out.mkv"), configuration: configuration)
            try recorder.start()
            let frames = RecordedFrames()
            for index in 0..<60 where !(20..<30).contains(index) {
                try await recorder.write(frames.picture(index))
                if index == 40 {
                    try recorder.mark("goal")
                    // Earlier than the last one.
                    #expect(recorder.consume(try frames.picture(10)) == .dropped(.backwards))
                }
            }
            let report = try await recorder.stop()
            let lines = try Self.lines(of: log)
            let gaps = lines.filter { $0.type == "gap" }
            #expect(gaps.count == 1 && gaps[0].cause == "source")
            #expect(gaps[0].time == 0.8 && gaps[0].seconds == 0.4)
            let marks = lines.filter { $0.type == "mark" }
            #expect(marks.map(\.name) == ["goal"] && marks[0].time == 1.6)
            #expect(lines.count { $0.type == "frame" } == report.video?.written)
            let drops = lines.filter { $0.type == "drop" }
            #expect(drops.map(\.cause) == ["backwards"])
            #expect(drops.compactMap(\.count).reduce(0, +) == report.video?.dropped.total)
        }
    }

    private static func record(
        _ count: Int, into path: String, log: String
    ) async throws -> (report: RecorderReport, warnings: [PipelineError]) {
        var configuration = Recorder.Configuration()
        configuration.whenFull = .wait
        configuration.frameLog = log
        let recorder = try Recorder(path, configuration: configuration)
        let events = recorder.events
        try recorder.start()
        for index in 0..<count { try await recorder.write(RecordedFrames().picture(index)) }
        let report = try await recorder.stop()
        var warnings: [PipelineError] = []
        for await event in events { if case .warning(let error) = event { warnings.append(error) } }
        return (report, warnings)
    }

    @Test func recordingGoesOnWithOneWarningIfItsLogCannotBeWritten() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            #expect(throws: PipelineError.self) {
                var configuration = Recorder.Configuration()
                configuration.frameLog = directory.file("none/out.jsonl")
                _ = try Recorder(path, configuration: configuration)
            }
            let (report, warnings) = try await Self.record(200, into: path, log: "/dev/full")
            #expect(
                warnings.map(\.message) == ["cannot write \"/dev/full\": No space left on device"])
            #expect(report.missingLogLines == 200)
            #expect(try await MediaProbe(of: path).video?.frames == 200)
        }
    }

    @Test func pipeThatIsNotReadDelaysNoRecording() async throws {
        try await withTemporaryDirectory { directory in
            let (path, log) = (directory.file("out.mkv"), directory.file("log"))
            try #require(mkfifo(log, 0o600) == 0)
            let (report, warnings) = try await Self.record(1000, into: path, log: log)
            #expect(report.files.map(\.frames) == [1000])
            #expect((1..<1000).contains(report.missingLogLines))
            #expect(
                warnings.map(\.message)
                    == ["the reader of \"\(log)\" is too slow for the timestamps"])
        }
    }

    @Test func lineCutByAKillDoesNotAffectOthers() async throws {
        try await withTemporaryDirectory { directory in
            let log = directory.file("out.jsonl")
            let broken = #"{"bytes":568,"file":"a.mkv","ind"#
            try Data(broken.utf8).write(to: URL(filePath: log))
            for name in ["a.mkv", "b.mkv"] {
                _ = try await Self.record(20, into: directory.file(name), log: log)
            }
            let lines = try String(contentsOfFile: log, encoding: .utf8).split(
                separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.count == 42 && lines[0] == broken && lines[41] == "")
            for line in lines[1..<41] {
                #expect(try JSONDecoder().decode(Line.self, from: Data(line.utf8)).type == "frame")
            }
        }
    }

    /// The log's name is that of the recording, of a segment, of another recording, of a link to one, or of
    /// another file.
    @Test func logNeverOverwritesARecordingOrAnotherFile() async throws {
        try await withTemporaryDirectory { directory in
            let (path, old) = (directory.file("out.mkv"), directory.file("old.dat"))
            let text = try directory.write("theirs", to: "notes.txt")
            let recording = directory.file("old.mkv")
            _ = try await Self.record(20, into: recording, log: directory.file("old.jsonl"))
            let bytes = try Data(contentsOf: URL(filePath: recording))
            try bytes.write(to: URL(filePath: old))
            let links = [directory.file("a.jsonl"), directory.file("b.jsonl")]
            #expect(symlink("out.mkv", links[0]) == 0 && symlink("old.dat", links[1]) == 0)
            let logs = [path, directory.file("out-00000.mkv"), recording, old, text] + links
            for log in logs {
                let error = await #expect(throws: PipelineError.self, "\(log)") {
                    try await Self.record(20, into: path, log: log)
                }
                #expect(error?.message.contains("\"\(log)\"") == true)
            }
            // A recording whose file is still empty.
            let claim = try ClaimedFile(directory.file("new.dat"), mustBeNew: true)
            await #expect(throws: PipelineError.self) {
                try await Self.record(20, into: path, log: directory.file("new.dat"))
            }
            claim?.unlock()
            #expect(try Data(contentsOf: URL(filePath: recording)) == bytes)
            #expect(try Data(contentsOf: URL(filePath: old)) == bytes)
            #expect(try String(contentsOfFile: text, encoding: .utf8) == "theirs")
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    /// The sender's clock is five seconds, or a day, ahead of this machine's.
    @Test(arguments: [5.0, 86_400])
    func captureTimesUseTheSenderClockIfItIsPlausible(offset: Double) async throws {
        try await withTemporaryDirectory { directory in
            let (log, sent) = (directory.file("out.jsonl"), directory.file("sent"))
            let (port, reports) = try FreePort.udpPair()
            let script = URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../../TestSupport/rtp-sender.py").path
            var plan = BridgePlan(
                capture: "rtpbin name=b latency=50 udpsrc port=\(port) caps=\"application/x-rtp,"
                    + "media=video,clock-rate=90000,encoding-name=VP8,payload=96\" "
                    + "! b.recv_rtp_sink_0 udpsrc port=\(reports) caps=application/x-rtcp "
                    + "! b.recv_rtcp_sink_0 b. ! rtpvp8depay ! appsink name=video")
            plan.recordings = [BridgePlan.Recording(path: directory.file("out.mkv"))]
            plan.recordings[0].configuration.frameLog = log
            plan.frameLimit = 90
            let bridge = try Bridge(plan)
            let sender = try ChildProcess(
                "/usr/bin/python3", [script, "\(port)", "\(offset)", sent])
            _ = await bridge.run()
            sender.send(signal: SIGKILL)
            _ = try await sender.end()
            let known = try String(contentsOfFile: sent, encoding: .utf8).split(separator: "\n")
                .compactMap { line -> (bytes: Int, captured: Double)? in
                    let fields = line.split(separator: " ").compactMap { Double($0) }
                    return fields.count == 2 ? (Int(fields[0]), fields[1]) : nil
                }
            // The sender's frames are known by their sizes.
            let frames = try Self.lines(of: log).filter { $0.type == "frame" }
            var places: [Int] = []
            for frame in frames {
                let rest = known.indices.drop { $0 <= places.last ?? -1 }
                try places.append(#require(rest.first { known[$0].bytes == frame.bytes }))
            }
            // Pictures of one time, as in a burst, count as one.
            #expect(frames.count >= 90)
            let errors = try zip(frames, places).map { try $0.captured - known[$1].captured }
            // Before the first report, the time of arrival counts.
            let agreeing = errors.drop { abs($0) > 1.0 / 30 }
            if offset == 5 {
                #expect(agreeing.count >= 10 && agreeing.allSatisfy { abs($0) < 1.0 / 30 })
            } else {
                #expect(errors.allSatisfy { $0 < -offset / 2 })
            }
        }
    }
}
