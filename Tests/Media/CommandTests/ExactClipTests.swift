import Foundation
import TestSupport
import Testing

extension CommandTests {
    /// `gst-bridge clip --exact`, checked with ffmpeg.
    @Suite(.hangGuard) struct ExactClipTests {
        struct Source: Sendable, CustomTestStringConvertible {
            var container: String
            var encoder: String
            var target: String
            var isOpen = false
            var testDescription: String { "\(encoder) .\(container) to .\(target)" }

            /// Six seconds with a key frame each 40 frames, and sound.
            func make(in directory: TemporaryDirectory) async throws -> String {
                let path = directory.file("source.\(container)")
                try await Tool.check(
                    "ffmpeg",
                    [
                        "-v", "error", "-f", "lavfi", "-i",
                        "testsrc2=size=160x120:rate=30:duration=6", "-f", "lavfi", "-i",
                        "anoisesrc=duration=6:sample_rate=48000:seed=1", "-g", "40", "-c:a",
                        container == "webm" ? "libopus" : "aac", "-c:v",
                    ] + encoder.split(separator: " ").map(String.init) + [path])
                return path
            }

            static let all =
                ["mkv", "mp4", "ts"].flatMap { container in
                    ["mkv", "mp4", "ts"].map {
                        Source(container: container, encoder: "libx264 -bf 3", target: $0)
                    }
                } + [
                    Source(
                        container: "mkv", encoder: "libx264 -bf 0 -profile:v baseline",
                        target: "mp4"),
                    Source(container: "webm", encoder: "libvpx -b:v 1M", target: "webm"),
                    Source(container: "webm", encoder: "libvpx-vp9 -b:v 1M", target: "mkv"),
                    // Only the first picture is an IDR picture.
                    Source(
                        container: "mkv", encoder: "libx264 -bf 3 -x264-params open-gop=1",
                        target: "mp4", isOpen: true),
                ]
        }

        private func clip(_ arguments: [String]) async throws -> [String: Any] {
            let ended = try await GstBridge.run(
                ["clip", "--exact"] + arguments + ["--report", "json"])
            try #require(ended.status == 0, "\(ended.errors)")
            let object = try JSONSerialization.jsonObject(with: Data(ended.output.utf8))
            return try #require(object as? [String: Any])
        }

        @Test(arguments: Source.all)
        func startsAtTheRequestedFrameAndCopiesFromTheNextKeyframe(
            source: Source
        ) async throws {
            try await withTemporaryDirectory { directory in
                let path = try await source.make(in: directory)
                let (whole, luma) = (
                    try await MediaProbe.pictures(of: path),
                    try await MediaProbe.luma(of: path, columns: 16, rows: 12)
                )
                for (start, end) in [(50, 140), (90, 100)] {
                    let output = directory.file("\(start).\(source.target)")
                    let report = try await clip([
                        path, "--from", "\(start * 100 / 3 - 10)ms",
                        "--to", "\(end * 100 / 3 - 10)ms", output,
                    ])
                    let copied = source.isOpen ? end : min((start / 40 + 1) * 40, end)
                    let pictures = try await MediaProbe.pictures(of: output)
                    let title = Comment(rawValue: "\(source.testDescription), from frame \(start)")
                    #expect(report["encoded"] as? Int == copied - start, title)
                    // Pictures that the last ones refer to may follow.
                    let count = end - start
                    #expect((count...count + 3).contains(pictures.count), title)
                    #expect(
                        Array(pictures.prefix(count).dropFirst(copied - start))
                            == Array(whole[copied..<end]), title)
                    let shown = try await MediaProbe.luma(of: output, columns: 16, rows: 12)
                    for (one, other) in zip(shown.prefix(count), luma[start...]) {
                        let differences = zip(one, other).map { abs(Int($0) - Int($1)) }
                        #expect(differences.reduce(0, +) / differences.count < 3, title)
                    }
                    let times = try await MediaProbe.videoTimes(of: output).sorted().prefix(count)
                    let steps = zip(times.dropFirst(), times).map { $0 - $1 }
                    #expect(steps.allSatisfy { abs($0 - 1 / 30) < 0.0021 }, title)
                    let inspected = try await GstBridge.run(["inspect", output])
                    #expect(inspected.status == 0, "\(inspected.output)")
                }
            }
        }

        @Test func exactClipOfAnExactClipPlays() async throws {
            try await withTemporaryDirectory { directory in
                let source = Source(container: "mkv", encoder: "libx264", target: "mp4")
                let path = try await source.make(in: directory)
                let (first, second) = (directory.file("1.mp4"), directory.file("2.mkv"))
                _ = try await clip([path, "--from", "1500ms", first])
                let report = try await clip([first, "--from", "500ms", second])
                #expect(report["encoded"] as? Int == 20)
                let whole = try await MediaProbe.pictures(of: path)
                let pictures = try await MediaProbe.pictures(of: second)
                #expect(pictures.count == 120 && pictures.suffix(100) == whole.suffix(100))
            }
        }

        /// Files of two seconds with a key frame each second, as ffmpeg segments them.
        private func segments(
            _ container: String, in directory: TemporaryDirectory
        ) async throws -> [String] {
            let whole = directory.file("whole.mkv")
            try await CountedFilm.make(
                whole, count: 180,
                [
                    "-c:v", "libx264", "-bf", "2", "-g", "30", "-sc_threshold", "0", "-c:a", "aac",
                ])
            try await CountedFilm.copy(
                whole, ["-f", "segment", "-segment_time", "2", "-reset_timestamps", "1"],
                to: directory.file("part%d.\(container)"))
            return (0..<3).map { directory.file("part\($0).\(container)") }
        }

        @Test(arguments: ["mkv", "mp4", "ts"])
        func exactClipContinuesInTheNextFile(container: String) async throws {
            try await withTemporaryDirectory { directory in
                let paths = try await segments(container, in: directory)
                for first in [45, 59, 60] {
                    let output = directory.file("\(first).mkv")
                    // 60 is the first picture of the second file: the clip begins after the last of the first.
                    let report = try await clip(
                        paths + ["--from", "\(first * 100 / 3 - 10)ms", output])
                    #expect(
                        try await CountedFilm.numbers(of: output) == Array(first..<180),
                        "from \(first) of .\(container)")
                    #expect(report["encoded"] as? Int == 60 - first)
                }
            }
        }

        @Test func refusesAClipWithoutAFrame() async throws {
            try await withTemporaryDirectory { directory in
                _ = try await segments("mkv", in: directory)
                let output = directory.file("out.mkv")
                let ended = try await GstBridge.run(
                    ["clip", "--exact", directory.file("whole.mkv"), "--from", "5995ms", output])
                #expect(ended.status == 1)
                #expect(ended.errors.contains("there is no picture"), "\(ended.errors)")
                #expect(!directory.contents.contains("out.mkv"))
            }
        }

        /// ffmpeg begins such a file with the pictures, at 7 ms, and adds the sound from 0 ms on later.
        @Test func copiesTheKeyframeAtTheJunctionOnce() async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("opus.mkv")
                try await CountedFilm.make(
                    path, count: 150, rate: 25,
                    [
                        "-c:v", "libx264", "-bf", "2", "-g", "32", "-sc_threshold", "0", "-c:a",
                        "libopus",
                    ])
                for first in [16, 27, 31] {
                    let output = directory.file("\(first).mkv")
                    _ = try await clip([path, "--from", "\(first * 40 - 3)ms", output])
                    #expect(
                        try await CountedFilm.numbers(of: output) == Array(first..<150),
                        "from \(first)")
                }
            }
        }

        @Test func impossibleReencodingIsExplained() async throws {
            try await withTemporaryDirectory { directory in
                let output = directory.file("out.mkv")
                for encoder in ["libx264 -pix_fmt yuv420p10le", "libx265 -x265-params log-level=0"]
                {
                    let source = Source(container: "mkv", encoder: encoder, target: "mkv")
                    let path = try await source.make(in: directory)
                    let ended = try await GstBridge.run([
                        "clip", "--exact", path, "--from", "1500ms", output,
                    ])
                    #expect(ended.status == 1)
                    #expect(ended.errors.contains("begins with a key frame"), "\(ended.errors)")
                    try FileManager.default.removeItem(atPath: path)
                }
                #expect(directory.contents.isEmpty)
            }
        }
    }
}
