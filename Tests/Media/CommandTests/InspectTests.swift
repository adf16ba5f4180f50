import Foundation
import TestSupport
import Testing

extension CommandTests {
    /// `gst-bridge inspect` and `gst-bridge snapshot --sheet`, checked with ffprobe.
    @Suite(.hangGuard) struct InspectTests {
        private func inspect(_ path: String) async throws -> (report: [String: Any], status: Int) {
            let ended = try await GstBridge.run(["inspect", path, "--json"])
            let object = try JSONSerialization.jsonObject(with: Data(ended.output.utf8))
            return (try #require(object as? [String: Any], "\(ended.errors)"), Int(ended.status))
        }

        /// Six seconds, each brighter than the one before.
        private func film(
            _ name: String, _ options: [String] = [], filter: String = "null",
            in directory: TemporaryDirectory
        ) async throws -> String {
            let path = directory.file(name)
            try await Tool.check(
                "ffmpeg",
                [
                    "-v", "error", "-f", "lavfi", "-i",
                    "color=size=160x120:rate=30:duration=6,"
                        + "geq=lum='20+40*floor(T)':cb=128:cr=128,\(filter)",
                    "-f", "lavfi", "-i", "anoisesrc=duration=6:sample_rate=48000:seed=1",
                    "-g", "30",
                    "-fps_mode", "vfr",
                ] + (name.hasSuffix(".ts") ? ["-c:v", "libx264", "-c:a", "aac"] : []) + options
                    + [path])
            return path
        }

        // MARK: Inspection

        /// The lengths of the gaps that inspect finds in the pictures of a film of 12 s at 25 frames a second.
        private func gaps(
            _ filter: String, soundFor seconds: Int = 12, in directory: TemporaryDirectory
        ) async throws -> [Double] {
            let path = directory.file("gaps.mkv")
            try await Tool.check(
                "ffmpeg",
                [
                    "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=12",
                    "-f", "lavfi", "-i", "anoisesrc=duration=\(seconds)", "-vf", filter,
                    "-fps_mode", "passthrough", "-enc_time_base", "1/1000", "-c:v", "mpeg4", "-c:a",
                    "libopus", path,
                ])
            let (report, _) = try await inspect(path)
            let tracks = try #require(report["tracks"] as? [[String: Any]])
            let pictures = try #require(tracks.first { $0["kind"] as? String == "video" })
            let gaps = try #require(pictures["gaps"] as? [[String: Any]])
            return gaps.compactMap { $0["seconds"] as? Double }
        }

        @Test func timestampCorrectionsAreNotReportedAsGaps() async throws {
            try await withTemporaryDirectory { directory in
                // The sender sends 21 frames a second, and states 25.
                let corrected =
                    "settb=1/1000,setpts=(N*40+floor(N/21)*204+mod(floor(N/21)*7\\,9))/1000/TB"
                let found = try await gaps(corrected, soundFor: 15, in: directory)
                #expect(found.isEmpty, "\(found)")
            }
        }

        @Test func reportsFramesMissingAtRegularIntervals() async throws {
            try await withTemporaryDirectory { directory in
                let found = try await gaps("select=gt(mod(n\\,26)\\,5)", in: directory)
                #expect(found.count == 11 && found.allSatisfy { abs($0 - 0.24) < 0.002 })
            }
        }

        @Test func reportsVideoThatEndsBeforeTheAudio() async throws {
            try await withTemporaryDirectory { directory in
                let found = try await gaps("null", soundFor: 17, in: directory)
                #expect(found.count == 1 && abs((found.first ?? 0) - 5) < 0.1, "\(found)")
            }
        }

        @Test(arguments: KilledRecording.all)
        func killedRecordingIsReportedAsInterruptedAndRepairable(
            recording: KilledRecording
        ) async throws {
            try await withTemporaryDirectory { directory in
                let path = try await recording.make(in: directory)
                let (report, status) = try await inspect(path)
                #expect(status == 0, "\(report)")
                let tracks = try #require(report["tracks"] as? [[String: Any]])
                let pictures = try #require(tracks.first { $0["kind"] as? String == "video" })
                let packets = try await MediaProbe.keyPackets(of: path)
                #expect(pictures["frames"] as? Int == packets.count)
                #expect(pictures["keyFrames"] as? Int == packets.count { $0 })
                let isStream = recording.name.hasSuffix(".ts")
                #expect((report["repair"] as? String == nil) == isStream)
                let repaired = directory.file("whole-\(recording.name)")
                #expect(try await GstBridge.run(["repair", path, repaired]).status == 0)
                let (after, _) = try await inspect(repaired)
                #expect(after["repair"] == nil)
                let found = try #require(after["tracks"] as? [[String: Any]])
                #expect(
                    found.first { $0["kind"] as? String == "video" }?["frames"] as? Int
                        == pictures["frames"] as? Int)
            }
        }

        @Test func damageInsideAFrameIsNotDetected() async throws {
            try await withTemporaryDirectory { directory in
                let path = try await film("out.mkv", ["-c:v", "libx264", "-an"], in: directory)
                let position = try await Tool.check(
                    "ffprobe",
                    [
                        "-v", "error", "-select_streams", "v", "-show_entries", "packet=pos",
                        "-read_intervals", "%+#1", "-of", "csv=p=0", path,
                    ])
                let offset = try #require(
                    Int(position.trimmingCharacters(in: .whitespacesAndNewlines)))
                var bytes = try Data(contentsOf: URL(filePath: path))
                bytes.replaceSubrange(
                    offset + 200..<offset + 210, with: [UInt8](repeating: 1, count: 10))
                try bytes.write(to: URL(filePath: path))
                #expect(try await inspect(path).status == 0)
            }
        }

        @Test(arguments: ["mkv", "mp4", "ts", "webm"])
        func aGapIsReportedWithItsTimeAndLength(container: String) async throws {
            try await withTemporaryDirectory { directory in
                let path = try await film(
                    "out.\(container)", filter: "select='not(between(t,1.99,3.49))'", in: directory)
                let (report, status) = try await inspect(path)
                #expect(status == 0, "\(report)")
                let tracks = try #require(report["tracks"] as? [[String: Any]])
                let gaps = tracks.map { $0["gaps"] as? [[String: Double]] ?? [] }
                let kinds = tracks.compactMap { $0["kind"] as? String }
                #expect(gaps[kinds.firstIndex(of: "audio") ?? 0].isEmpty)
                let gap = try #require(gaps[kinds.firstIndex(of: "video") ?? 0].first)
                #expect(abs((gap["at"] ?? 0) - 1.967) < 0.1)
                // tsdemux takes a part of the gap for a jump of the clock, and removes it.
                let length = container == "ts" ? 0.4...1.51 : 1.49...1.51
                #expect(length.contains(gap["seconds"] ?? 0), "\(gap)")
            }
        }

        /// `SEED=7` damages other places.
        @Test(arguments: ["mkv", "webm", "ts"])
        func damageIsReportedAndRepairInPlaceIsRefused(container: String) async throws {
            let seed = ProcessInfo.processInfo.environment["SEED"].flatMap { UInt64($0) } ?? 1
            try await withTemporaryDirectory { directory in
                let path = try await film("out.\(container)", in: directory)
                #expect(try await inspect(path).status == 0)
                let bytes = try Data(contentsOf: URL(filePath: path))
                var random = SeededGenerator(seed: seed)
                for number in 0..<4 {
                    let count = Int.random(in: 3000..<6000, using: &random)
                    let start = Int.random(
                        in: bytes.count / 5..<bytes.count * 4 / 5, using: &random)
                    var damaged = bytes
                    if number % 2 == 0 {
                        damaged.removeSubrange(start..<start + count)
                    } else {
                        damaged.replaceSubrange(
                            start..<start + count, with: [UInt8](repeating: 0, count: count))
                    }
                    try damaged.write(to: URL(filePath: path))
                    let (report, status) = try await inspect(path)
                    let title = Comment(rawValue: "seed \(seed), \(count) bytes at \(start)")
                    #expect(status == 1, title)
                    #expect((report["damage"] as? [String])?.isEmpty == false, title)
                    guard container != "ts" else { continue }
                    let ended = try await GstBridge.run(["repair", path])
                    #expect(ended.status == 1 && ended.errors.contains("is damaged"), title)
                    #expect(try Data(contentsOf: URL(filePath: path)) == damaged, title)
                }
            }
        }

        @Test func aRepairKeepsTheChaptersOfACompleteFile() async throws {
            try await withTemporaryDirectory { directory in
                let chapters = try directory.write(
                    ";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1\nSTART=1\nEND=3\ntitle=goal\n",
                    to: "chapters")
                let film = try await film("film.mkv", in: directory)
                for container in ["mkv", "mp4"] {
                    let path = directory.file("out.\(container)")
                    try await Tool.check(
                        "ffmpeg",
                        [
                            "-v", "error", "-i", film, "-i", chapters, "-map_chapters", "1", "-c",
                            "copy", path,
                        ])
                    let before = try Data(contentsOf: URL(filePath: path))
                    #expect(try await GstBridge.run(["repair", path]).status == 0)
                    #expect(try Data(contentsOf: URL(filePath: path)) == before)
                }
            }
        }

        // MARK: Contact sheets

        @Test(arguments: [
            ("out.mkv", []), ("out.mp4", []), ("out.ts", []), ("out.webm", []),
            ("live.mkv", ["-live", "1"]),
            ("fragments.mp4", ["-movflags", "frag_keyframe+empty_moov"]),
        ])
        func contactSheetShowsFramesAtEqualIntervals(
            name: String, options: [String]
        ) async throws {
            try await withTemporaryDirectory { directory in
                let path = try await film(name, options, in: directory)
                let sheet = directory.file("sheet.png")
                let ended = try await GstBridge.run(["snapshot", "--sheet", "3x2", path, sheet])
                #expect(ended.status == 0, "\(ended.errors)")
                let video = try await MediaProbe(of: sheet).video
                #expect(video?.width == 1596 && video?.height == 796)
                let fields = try await MediaProbe.luma(of: sheet, columns: 6, rows: 8)[0]
                // On the left of each picture: the time is at the lower right.
                let lumas = (0..<6).map { Int(fields[$0 / 3 * 24 + $0 % 3 * 2 + 6]) }
                let steps = zip(lumas.dropFirst(), lumas).map { $0 - $1 }
                #expect(steps.allSatisfy { $0 > 30 }, "\(lumas)")
            }
        }

        @Test(arguments: [
            (["--sheet", "5", "film.mkv", "a.png"], 64, "sheet"),
            (["--sheet", "3x2", "a.png"], 64, "requires a recording"),
            (
                ["--sheet", "3x2", "--capture", "videotestsrc", "film.mkv", "a.png"], 64,
                "--capture"
            ),
            (["film.mkv", "a.png"], 64, "requires the picture"),
            (["--sheet", "0x2", "film.mkv", "a.png"], 1, "out of range"),
            (["--sheet", "3x2", "none.mkv", "a.png"], 1, "none.mkv"),
            (["--sheet", "3x2", "sound.mkv", "a.png"], 1, "has no video"),
            (["--sheet", "3x2", "film.mkv", "none/a.png"], 1, "none/a.png"),
        ])
        func impossibleContactSheetIsExplained(
            arguments: [String], status: Int, reason: String
        ) async throws {
            try await withTemporaryDirectory { directory in
                _ = try await film("film.mkv", in: directory)
                _ = try await film("sound.mkv", ["-vn"], in: directory)
                let ended = try await GstBridge.run(
                    ["snapshot"]
                        + arguments.map { $0.contains(".") ? directory.file($0) : $0 })
                #expect(Int(ended.status) == status, "\(ended.errors)")
                #expect(ended.errors.contains(reason), "\(ended.errors)")
                #expect(!directory.contents.contains("a.png"))
            }
        }
    }
}
