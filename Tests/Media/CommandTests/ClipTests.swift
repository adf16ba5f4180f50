import Foundation
import TestSupport
import Testing

extension CommandTests {
    /// `gst-bridge list` and `gst-bridge clip`, checked with ffprobe.
    @Suite(.hangGuard) struct ClipTests {
        /// One packet, as ffprobe reads it.
        struct Packet: Equatable {
            var hash: String
            var time: Double
            var isKey: Bool
        }
        private static let containers = ["mkv", "mp4", "webm", "ts"]
        private static let seed =
            ProcessInfo.processInfo.environment["SEED"].flatMap { UInt64($0) } ?? 1
        private static let count =
            ProcessInfo.processInfo.environment["CLIPS"].flatMap { Int($0) } ?? 4

        /// Records 7.5 s with a key frame each second, in files of 2 s. The sound is noise, so that no
        /// two of its packets are equal.
        private func record(_ container: String, in directory: TemporaryDirectory) async throws
            -> [String]
        {
            let ended = try await GstBridge.run([
                "record", "--capture",
                "videotestsrc pattern=ball num-buffers=225 ! "
                    + "video/x-raw,width=160,height=120,framerate=30/1 ! appsink name=video "
                    + "audiotestsrc wave=white-noise num-buffers=375 samplesperbuffer=960 ! "
                    + "audio/x-raw,rate=48000,channels=2 ! appsink name=audio", "--segment", "2s",
                directory.file("cam.\(container)"),
            ])
            try #require(ended.status == 0, "\(ended.errors)")
            let paths = directory.contents.filter { $0.hasPrefix("cam-") }.map {
                directory.file($0)
            }
            try #require(paths.count == 4, "\(paths)")
            // A transport stream is dated by its last change. The film may be recorded more slowly than it plays.
            let begin = Date()
            for (index, path) in paths.enumerated() {
                let end = begin + min(2 * Double(index + 1), 7.5)
                try FileManager.default.setAttributes([.modificationDate: end], ofItemAtPath: path)
            }
            return paths
        }

        @Test(arguments: [("video", "opus"), ("audio", "h264")])
        func omitsTheDeselectedStream(kind: String, rest: String) async throws {
            try await withTemporaryDirectory { directory in
                let sources = try await record("mkv", in: directory)
                let clip = directory.file("clip.mkv")
                let ended = try await GstBridge.run(
                    ["clip", "--\(kind)", "none"] + sources + [clip])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(!ended.errors.contains("left out"), "\(ended.errors)")
                let codecs = try await Tool.check(
                    "ffprobe",
                    ["-v", "error", "-show_entries", "stream=codec_name", "-of", "csv=p=0", clip])
                #expect(codecs.split(whereSeparator: \.isNewline) == [Substring(rest)])
            }
        }

        @Test func listsTheOmittedStreams() async throws {
            try await withTemporaryDirectory { directory in
                let film = directory.file("film.mkv")
                let video = ["-f", "lavfi", "-i", "testsrc2=s=96x64:r=25:d=1"]
                let sound = ["-f", "lavfi", "-i", "sine=d=1"]
                try await Tool.check(
                    "ffmpeg",
                    ["-v", "error"] + video + video + sound + sound + [
                        "-map", "0", "-map", "1", "-map", "2", "-map", "3", "-c:v", "libx264",
                        "-c:a",
                        "aac", film,
                    ])
                let report = try await clip([film, directory.file("clip.mkv")])
                let leftOut = try #require(report["leftOut"] as? [String])
                #expect(leftOut.count == 1, "\(leftOut)")
            }
        }

        // The names are ffprobe's.
        // swift-format-ignore: AlwaysUseLowerCamelCase
        private struct Answer: Decodable {
            struct Packet: Decodable {
                var pts_time, data_hash, flags: String
            }
            var packets: [Packet]
        }

        private func packets(_ kind: String, of path: String) async throws -> [Packet] {
            let output = try await Tool.check(
                "ffprobe",
                [
                    "-v", "error", "-select_streams", "\(kind):0", "-show_packets",
                    "-show_data_hash",
                    "md5", "-of", "json", path,
                ])
            return try JSONDecoder().decode(Answer.self, from: Data(output.utf8)).packets.map {
                Packet(
                    hash: $0.data_hash, time: Double($0.pts_time) ?? .nan,
                    isKey: $0.flags.hasPrefix("K"))
            }
        }

        /// The packets of files that follow each other, with times from the beginning of the first one.
        private func packets(_ kind: String, of paths: [String]) async throws -> [Packet] {
            var (all, begin) = ([Packet](), 0.0)
            for path in paths {
                let pictures = try await packets("v", of: path)
                let zero = pictures.map(\.time).min() ?? 0
                let own = kind == "v" ? pictures : try await packets(kind, of: path)
                all += own.map {
                    Packet(hash: $0.hash, time: $0.time - zero + begin, isKey: $0.isKey)
                }
                begin += Double(pictures.count) / 30
            }
            return all
        }

        private func clip(_ arguments: [String]) async throws -> [String: Any] {
            let ended = try await GstBridge.run(["clip"] + arguments + ["--report", "json"])
            try #require(ended.status == 0, "\(ended.errors)")
            let object = try JSONSerialization.jsonObject(with: Data(ended.output.utf8))
            return try #require(object as? [String: Any])
        }

        private func list(_ arguments: [String]) async throws -> (files: [[String: Any]], Ended) {
            let ended = try await GstBridge.run(["list", "--json"] + arguments)
            let object = try JSONSerialization.jsonObject(with: Data(ended.output.utf8))
            let all = try #require(object as? [String: Any], "\(ended.errors)")
            return (try #require(all["files"] as? [[String: Any]]), ended)
        }

        private func date(_ text: Any?) throws -> Date {
            let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
            return try style.parse(#require(text as? String))
        }

        // MARK: Units

        /// `CLIPS=100 SEED=7` makes more clips.
        @Test(arguments: containers)
        func aClipHasExactlyTheEncodedFramesOfItsRange(container: String) async throws {
            try await withTemporaryDirectory { directory in
                let paths = try await record(container, in: directory)
                let (pictures, sound) = (
                    try await packets("v", of: paths), try await packets("a", of: paths)
                )
                #expect(pictures.count == 225)
                var random = SeededGenerator(seed: Self.seed)
                for number in 0..<Self.count {
                    let from = Double(Int.random(in: 1..<7000, using: &random)) / 1000
                    let to =
                        Double(Int.random(in: Int(from * 1000) + 1...7500, using: &random)) / 1000
                    let title = Comment(
                        rawValue:
                            "seed \(Self.seed), clip \(number) of .\(container): \(from) to \(to)")
                    let output = directory.file("clip-\(number).\(container)")
                    let report = try await clip(
                        paths + ["--from", "\(from)s", "--to", "\(to)s", output])
                    let shown = try await packets("v", of: output)
                    let hashes = pictures.map(\.hash)
                    // A transport stream does not state how long it lasts.
                    let precision = container == "ts" ? 0.15 : 0.0011
                    let first = try #require(
                        hashes.firstIndex { $0 == shown.first?.hash }, title)
                    let end = first + shown.count
                    #expect(shown.map(\.hash) == Array(hashes[first..<min(end, 225)]), title)
                    let next = pictures[(first + 1)...].first { $0.isKey }?.time ?? 7.5
                    #expect(pictures[first].time <= from + precision, title)
                    #expect(next > from - precision, title)
                    #expect(pictures[end - 1].time < to + precision, title)
                    #expect(end == 225 || pictures[end].time >= to - precision, title)
                    #expect(shown.first?.isKey == true, title)
                    let zero = shown.first?.time ?? 0
                    let times = zip(shown, pictures[first..<end]).map {
                        abs($0.time - zero - ($1.time - pictures[first].time))
                    }
                    #expect(times.allSatisfy { $0 < 0.0021 }, title)
                    #expect(report["lead"] as? Double ?? .nan < 1 + precision, title)
                    // The precision of the times decides about one packet at each end.
                    let (begin, heard) = (pictures[first].time, try await packets("a", of: output))
                    let within = sound.filter {
                        $0.time >= begin - precision && $0.time < to + precision
                    }
                    let spare = container == "ts" ? 30 : 2
                    #expect((within.count - spare...within.count + 1).contains(heard.count), title)
                    let place = sound.firstIndex { $0.hash == heard.first?.hash } ?? 0
                    #expect(
                        heard.map(\.hash) == sound.dropFirst(place).prefix(heard.count).map(\.hash),
                        title)
                    // ffprobe subtracts the pre-skip of Opus, 6.5 ms, which only the first file has.
                    for (one, other) in zip(heard, sound.dropFirst(place)) {
                        #expect(abs(one.time - zero - (other.time - begin)) < 0.0085, title)
                    }
                }
            }
        }

        @Test(arguments: containers) func clipKeepsAGap(container: String) async throws {
            try await withTemporaryDirectory { directory in
                let paths = try await record(container, in: directory)
                let parts = [paths[0], paths[2]]
                let output = directory.file("out.\(container)")
                // Transport streams have no dates but those of their last changes.
                for (path, end) in zip(parts, [2.0, 6.0]) where container == "ts" {
                    try FileManager.default.setAttributes(
                        [.modificationDate: Date(timeIntervalSince1970: 1_700_000_000 + end)],
                        ofItemAtPath: path)
                }
                let report = try await clip(parts + ["--from", "1s", "--to", "5500ms", output])
                let gap = try #require((report["gaps"] as? [Double])?.first)
                #expect(abs(gap - 2) < (["mp4", "ts"].contains(container) ? 1.1 : 0.1))
                let times = try await packets("v", of: output).map(\.time)
                let longest = zip(times.dropFirst(), times).map { $0 - $1 }.max() ?? 0
                #expect(abs(longest - (gap + 1 / 30)) < 0.1)
                #expect(times.count == 30 + 45 || ["mp4", "ts"].contains(container))
                let (files, _) = try await list(parts)
                #expect(files.map { $0["gap"] as? Double ?? 0 > 0.5 } == [false, true])
            }
        }

        @Test(arguments: [("ts", "~"), ("mkv", "")])
        func listStatesTimesAndWhetherTheyAreEstimated(
            container: String, mark: String
        ) async throws {
            try await withTemporaryDirectory { directory in
                let paths = try await record(container, in: directory)
                for (options, zone) in [(["--utc"], "+00:00"), ([], "+05:30")] {
                    let ended = try await GstBridge.run(
                        ["list"] + options + paths, environment: ["TZ": "Asia/Kolkata"])
                    let lines = ended.output.split(separator: "\n").filter {
                        !$0.hasPrefix("  gap")
                    }
                    #expect(lines.count == 4, "\(ended.output)")
                    for (line, path) in zip(lines, paths) {
                        #expect(
                            line.hasPrefix("\(path): \(mark)20") && line.contains("\(zone) to "),
                            "\(line)")
                    }
                }
            }
        }

        @Test(arguments: ["mkv", "mp4", "ts"])
        func clipKeepsReorderedFrames(container: String) async throws {
            try await withTemporaryDirectory { directory in
                let source = directory.file("source.\(container)")
                try await Tool.check(
                    "ffmpeg",
                    [
                        "-v", "error", "-f", "lavfi", "-i",
                        "testsrc2=size=160x120:rate=30:duration=6",
                        "-c:v", "libx264", "-g", "30", "-bf", "3", source,
                    ])
                for output in ["mkv", "mp4", "ts"].map({ directory.file("out.\($0)") }) {
                    _ = try await clip([source, "--from", "2500ms", "--to", "4s", output])
                    // Pictures that the last ones refer to may follow.
                    let pictures = try await MediaProbe.pictures(of: output)
                    let whole = try await MediaProbe.pictures(of: source)
                    #expect((60...63).contains(pictures.count), "\(output)")
                    #expect(pictures.prefix(60) == whole[60..<120], "\(output)")
                }
            }
        }

        @Test(arguments: ["mkv", "mp4", "ts"])
        func aacFromMatroskaKeepsItsSampleRate(container: String) async throws {
            try await withTemporaryDirectory { directory in
                let source = directory.file("source.mkv")
                try await Tool.check(
                    "ffmpeg",
                    [
                        "-v", "error", "-f", "lavfi", "-i",
                        "anoisesrc=duration=2:sample_rate=48000:seed=1", "-c:a", "aac", source,
                    ])
                let outputs = ["clip", "copy"].map { directory.file("\($0).\(container)") }
                _ = try await clip([source, outputs[0]])
                let capture = "filesrc location=\(source) ! matroskademux ! appsink name=audio"
                let ended = try await GstBridge.run(["record", "--capture", capture, outputs[1]])
                #expect(ended.status == 0, "\(ended.errors)")
                for output in outputs {
                    #expect(try await MediaProbe(of: output).audio?.sampleRate == 48_000)
                    let decoded = try await Tool.run(
                        "ffmpeg", ["-v", "error", "-i", output, "-f", "null", "-"])
                    #expect(!decoded.errors.contains("scalefactor"), "\(decoded.errors)")
                }
                let streams = try await list([source] + outputs).files.compactMap {
                    ($0["streams"] as? [[String: Any]])?.first?["rate"] as? Int
                }
                #expect(streams == [48_000, 48_000, 48_000])
            }
        }

        // MARK: Times

        @Test(arguments: ["mkv", "webm", "mp4"])
        func aClipStatesWhenItsFirstFrameWasCaptured(container: String) async throws {
            try await withTemporaryDirectory { directory in
                let paths = try await record(container, in: directory)
                let output = directory.file("out.\(container)")
                let began = try await date(list(paths).files.first?["began"])
                let from = (began + 4.5).formatted(
                    Date.ISO8601FormatStyle(includingFractionalSeconds: true))
                _ = try await clip(paths + ["--from", from, output])
                let stated = try await date(list([output]).files.first?["began"])
                let precision = container == "mp4" ? 1.1 : 0.0021
                #expect(abs(stated.timeIntervalSince(began) - 4) < precision)
            }
        }

        @Test(arguments: ["0", "0s", "0ms"])
        func beginsAtZero(text: String) async throws {
            try await withTemporaryDirectory { directory in
                let paths = try await record("mkv", in: directory)
                let report = try await clip(
                    paths + ["--from", text, "--to", "1", directory.file("out.mkv")])
                #expect((report["file"] as? [String: Any])?["frames"] as? Int == 30)
            }
        }

        /// In Berlin, 2:30 of that night is 0:30 and 1:30 in UTC.
        @Test func ambiguousLocalTimeNeedsAnOffset() async throws {
            try await withTemporaryDirectory { directory in
                var paths: [String] = []
                for hour in 0...1 {
                    paths.append(directory.file("\(hour).mkv"))
                    try await CountedFilm.make(
                        paths[hour], count: 120,
                        [
                            "-metadata", "creation_time=2026-10-25T0\(hour):29:58Z", "-c:v",
                            "libx264", "-g", "30", "-sc_threshold", "0", "-an",
                        ])
                }
                func clip(_ paths: [String], _ from: String) async throws -> Ended {
                    try await GstBridge.run(
                        ["clip", "--overwrite"] + paths
                            + ["--from", from, directory.file("out.mkv")],
                        environment: ["TZ": "Europe/Berlin"])
                }
                let ended = try await clip(paths, "02:30:00")
                #expect(ended.status == 1)
                #expect(
                    ended.errors.contains(
                        "2026-10-25T02:30:00+02:00 or 2026-10-25T02:30:00+01:00"), "\(ended.errors)"
                )
                #expect(try await clip(paths, "2026-10-25T02:30:00+01:00").status == 0)
                // Only one of the times is in the second recording.
                #expect(try await clip([paths[1]], "02:30:00").status == 0)
                let numbers = try await CountedFilm.numbers(of: directory.file("out.mkv"))
                #expect(numbers == Array(60..<120))
            }
        }

        /// Faster than in real time, a file may be complete after the next one.
        @Test func filesWrittenTogetherAreSortedByName() async throws {
            try await withTemporaryDirectory { directory in
                var paths = try await record("ts", in: directory)
                for (number, path) in paths.enumerated() {
                    paths[number] = directory.file("cam\(number + 8).ts")
                    try FileManager.default.moveItem(atPath: path, toPath: paths[number])
                    let ended = Date(timeIntervalSince1970: 1_700_000_000 - 0.1 * Double(number))
                    try FileManager.default.setAttributes(
                        [.modificationDate: ended], ofItemAtPath: paths[number])
                }
                let files = try await list(paths).files
                #expect(files.compactMap { $0["file"] as? String } == paths)
            }
        }

        @Test(arguments: ["mp4", "mkv"])
        func copiesMP3(target: String) async throws {
            try await withTemporaryDirectory { directory in
                let (source, output) = (directory.file("in.mp4"), directory.file("out.\(target)"))
                try await CountedFilm.make(
                    source, count: 120, ["-c:v", "libx264", "-g", "30", "-c:a", "libmp3lame"])
                _ = try await clip([source, "--from", "1s", "--to", "3s", output])
                let probe = try await MediaProbe(of: output)
                #expect(probe.audio?.codec == "mp3" && probe.audio?.frames ?? 0 > 70)
            }
        }

        /// A transport stream states the parameter sets at IDR pictures only; this one would have none.
        @Test func refusesAnUnplayableTransportStream() async throws {
            try await withTemporaryDirectory { directory in
                let (source, output) = (directory.file("in.mkv"), directory.file("out.ts"))
                try await CountedFilm.make(
                    source, count: 120,
                    ["-an", "-c:v", "libx264", "-g", "30", "-x264-params", "open-gop=1"])
                let ended = try await GstBridge.run([
                    "clip", source, "--from", "2s", "--to", "4s", output,
                ])
                #expect(ended.status == 1)
                #expect(ended.errors.contains("no IDR picture"), "\(ended.errors)")
                #expect(!FileManager.default.fileExists(atPath: output))
            }
        }

        @Test func timeOfDayRefersToTheRecordings() async throws {
            try await withTemporaryDirectory { directory in
                let paths = try await record("mkv", in: directory)
                let began = try await date(list(paths).files.first?["began"])
                let time = (began + 3).formatted(
                    Date.ISO8601FormatStyle().time(includingFractionalSeconds: true))
                let report = try await clip(
                    paths + [
                        "--utc", "--from", time.replacing("Z", with: ""), directory.file("out.mkv"),
                    ])
                #expect(report["lead"] as? Double ?? .nan < 0.0021 + 1)
                #expect((report["sources"] as? [String])?.count == 3)
            }
        }

        // MARK: Lists

        @Test func damagedFilesDoNotEndTheList() async throws {
            try await withTemporaryDirectory { directory in
                let paths = try await record("mkv", in: directory)
                let bytes = try Data(contentsOf: URL(filePath: paths[1]))
                try bytes.prefix(bytes.count / 2).write(to: URL(filePath: paths[1]))
                _ = try directory.write("", to: "empty.mkv")
                _ = try directory.write("notes", to: "notes.txt")
                let (files, ended) = try await list([directory.path])
                #expect(ended.status == 1)
                #expect(ended.errors.contains("empty.mkv is empty"), "\(ended.errors)")
                #expect(ended.errors.contains("notes.txt"), "\(ended.errors)")
                #expect(files.map { $0["file"] as? String } == paths)
                #expect(files.map { $0["complete"] as? Bool } == [true, false, true, true])
                let seconds = files.compactMap { $0["seconds"] as? Double }
                #expect(abs(seconds[0] - 2) < 0.1)
                #expect((0.4...1.6).contains(seconds[1]), "\(seconds)")
                let streams = try #require(files[0]["streams"] as? [[String: Any]])
                #expect(streams.compactMap { $0["codec"] as? String }.sorted() == ["h264", "opus"])
                #expect(streams.compactMap { $0["width"] as? Int } == [160])
            }
        }

        // MARK: Bad input

        @Test func impossibleClipIsExplained() async throws {
            try await withTemporaryDirectory { directory in
                let paths = try await record("mkv", in: directory)
                let other = directory.file("other.mkv")
                try await Tool.check(
                    "ffmpeg",
                    [
                        "-v", "error", "-f", "lavfi", "-i",
                        "testsrc2=size=320x240:rate=30:duration=2",
                        "-metadata", "creation_time=2020-01-01T00:00:00Z", other,
                    ])
                let output = directory.file("out.mkv")
                let before = try paths.map { try Data(contentsOf: URL(filePath: $0)) }
                let cases: [([String], String)] = [
                    (paths + ["--from", "3s", "--to", "2s", output], "ends before it begins"),
                    (
                        paths + [
                            "--from", "2001-01-01T00:00:00", "--to", "2001-01-02T00:00:00", output,
                        ],
                        "there is no recording from 2001-01-01T00:00:00"
                    ),
                    (paths + ["--from", "99s", output], "there is no recording from"),
                    (paths + ["--from", "yesterday", output], "\"yesterday\" is not a time"),
                    (paths + [directory.file("out.webm")], "cannot be copied into .webm"),
                    (paths + ["--overwrite", paths[1]], "is a recording that the clip is made of"),
                    (paths + [other], "already exists"),
                    (paths + [directory.file("no/out.mkv")], "no/out.mkv"),
                    ([other] + paths + ["--from", "0.001s", output], "cannot contain both"),
                    ([directory.file("none.mkv"), output], "none.mkv"),
                    (
                        [paths[0], directory.path + "/cam-00000.mkv", output],
                        "recorded at the same time"
                    ),
                ]
                for (arguments, reason) in cases {
                    let ended = try await GstBridge.run(["clip"] + arguments)
                    #expect(ended.status == 1)
                    #expect(ended.errors.contains(reason), "\(ended.errors)")
                }
                #expect(!directory.contents.contains { $0.hasPrefix("out") })
                #expect(try paths.map { try Data(contentsOf: URL(filePath: $0)) } == before)
            }
        }

        @Test(.disabled(if: Sanitizer.isOfThreads)) func aFullDiskLeavesNoClip() async throws {
            try await withTemporaryDirectory { directory in
                let paths = try await record("mkv", in: directory)
                let line =
                    "ulimit -f 40; exec \(try Tool.gstBridge) clip \(directory.path) "
                    + directory.file("out.mkv")
                let result = try await Tool.run("sh", ["-c", line])
                #expect(result.status == 1)
                #expect(result.errors.contains("out.mkv"), "\(result.errors)")
                #expect(directory.contents.count == paths.count)
            }
        }
    }
}
