import Foundation
import TestSupport
import Testing

extension CommandTests {
    /// Files whose edit list begins between two key frames, as ffmpeg and phones write them.
    @Suite(.hangGuard) struct EditListTests {
        /// The pictures 50 to 149, with keyframes at 50 and 100. Those from 60 on are shown.
        private func trimmed(
            in directory: TemporaryDirectory, bFrames: Int = 0, ending: String = "mp4"
        ) async throws -> String {
            let (whole, path) = (directory.file("whole.mp4"), directory.file("trimmed.\(ending)"))
            try await CountedFilm.make(
                whole, count: 150, rate: 25,
                [
                    "-c:v", "libx264", "-g", "50", "-bf", "\(bFrames)", "-sc_threshold", "0",
                    "-c:a", "aac",
                ])
            try await Tool.check(
                "ffmpeg",
                ["-v", "error", "-nostdin", "-ss", "2.4", "-i", whole, "-c", "copy", path])
            return path
        }

        @Test(arguments: ["mkv", "mp4", "ts"], [0, 3])
        func copiesTheFramesThatShownFramesReference(container: String, bFrames: Int) async throws {
            try await withTemporaryDirectory { directory in
                let path = try await trimmed(in: directory, bFrames: bFrames)
                let output = directory.file("out.\(container)")
                let ended = try await GstBridge.run([
                    "record", "--capture",
                    "filesrc location=\(path) ! qtdemux name=d d.video_0 ! queue ! h264parse ! "
                        + "appsink name=video d.audio_0 ! queue ! aacparse ! appsink name=audio",
                    output,
                ])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(try await CountedFilm.numbers(of: output) == Array(50..<150))
            }
        }

        @Test func passesTheKeyframeOfTheEditToAnOutput() async throws {
            try await withTemporaryDirectory { directory in
                let path = try await trimmed(in: directory, bFrames: 3)
                let output = directory.file("out.mkv")
                let ended = try await GstBridge.run(
                    capture: "filesrc location=\(path) ! qtdemux ! h264parse",
                    outputs: ["h264parse ! matroskamux ! filesink location=\(output)"])
                #expect(try ended.report.only.frames == 100, "\(ended.errors)")
                #expect(try await CountedFilm.numbers(of: output) == Array(50..<150))
            }
        }

        @Test(arguments: ["mp4", "mov"])
        func showsOnlyTheEdit(ending: String) async throws {
            try await withTemporaryDirectory { directory in
                let path = try await trimmed(in: directory, bFrames: 3, ending: ending)
                let output = directory.file("out.mkv")
                let ended = try await GstBridge.run(
                    capture: "filesrc location=\(path) ! decodebin",
                    outputs: [
                        "x264enc tune=zerolatency ! matroskamux ! filesink location=\(output)"
                    ])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(try await CountedFilm.numbers(of: output) == Array(60..<150))
            }
        }

        @Test(arguments: [0, 3])
        func clipsTheEditExactlyOrFromItsKeyframe(bFrames: Int) async throws {
            try await withTemporaryDirectory { directory in
                let path = try await trimmed(in: directory, bFrames: bFrames)
                let recordings = try await GstBridge.run(["list", "--json", path])
                #expect(recordings.output.contains("\"seconds\":3.6"), "\(recordings.output)")
                for (arguments, numbers) in [
                    ([], 50..<150), (["--exact"], 60..<150),
                    (["--exact", "--from", "1s"], 85..<150),
                    (["--from", "1s"], 50..<150), (["--from", "1800ms"], 100..<150),
                ] {
                    let output = directory.file("\(arguments.joined(separator: "-")).mkv")
                    let ended = try await GstBridge.run(["clip"] + arguments + [path, output])
                    #expect(ended.status == 0, "\(ended.errors)")
                    #expect(
                        try await CountedFilm.numbers(of: output) == Array(numbers),
                        "\(arguments)")
                }
            }
        }

        @Test func showsAllReorderedFramesOfUnequalDuration() async throws {
            try await withTemporaryDirectory { directory in
                let (path, output) = (directory.file("vfr.mkv"), directory.file("out.mp4"))
                try await CountedFilm.make(
                    path, count: 120,
                    [
                        "-vf", "select='gt(mod(n*n*7+n\\,5)\\,1)'", "-fps_mode", "vfr", "-an",
                        "-c:v",
                        "libx264", "-bf", "3", "-g", "40",
                    ])
                let ended = try await GstBridge.run([
                    "record", "--capture",
                    "filesrc location=\(path) ! matroskademux ! h264parse", output,
                ])
                #expect(ended.status == 0, "\(ended.errors)")
                let numbers = try await CountedFilm.numbers(of: path)
                #expect(try await CountedFilm.numbers(of: output) == numbers)
            }
        }
    }
}
