import Foundation
import TestSupport
import Testing

extension CommandTests {
    /// Files whose first time is not zero, as ffmpeg writes them.
    @Suite(.hangGuard) struct ShiftedFileTests {
        static let containers = ["mkv", "mp4", "ts", "webm"]

        /// Writes three files of two seconds whose times continue.
        private func segments(
            _ container: String, in directory: TemporaryDirectory
        ) async throws -> [String] {
            let whole = directory.file("whole.\(container == "webm" ? "webm" : "mkv")")
            try await CountedFilm.make(
                whole, count: 180,
                container == "webm"
                    ? ["-c:v", "libvpx", "-deadline", "realtime", "-g", "30", "-c:a", "libopus"]
                    : [
                        "-c:v", "libx264", "-bf", "2", "-g", "30", "-sc_threshold", "0", "-c:a",
                        "aac",
                    ])
            try await CountedFilm.copy(
                whole, ["-f", "segment", "-segment_time", "2"],
                to: directory.file("part%d.\(container)"))
            return (0..<3).map { directory.file("part\($0).\(container)") }
        }

        @Test(arguments: containers)
        func joinsFilesWhoseTimesContinue(container: String) async throws {
            try await withTemporaryDirectory { directory in
                let paths = try await segments(container, in: directory)
                let listed = try await GstBridge.run(["list", "--json"] + paths)
                let object = try JSONSerialization.jsonObject(with: Data(listed.output.utf8))
                let files = try #require((object as? [String: Any])?["files"] as? [[String: Any]])
                for file in files {
                    let seconds = try #require(file["seconds"] as? Double)
                    #expect(abs(seconds - 2) < 0.2, "\(listed.output)")
                }
                let output = directory.file("clip.\(container)")
                let ended = try await GstBridge.run(
                    ["clip"] + paths + ["--from", "3500ms", "--to", "5100ms", output])
                #expect(ended.status == 0, "\(ended.errors)")
                let numbers = try await CountedFilm.numbers(of: output)
                #expect(numbers.first == 90)
                #expect(Array(numbers.prefix(60)) == Array(90..<150), "\(numbers)")
                let times = try await MediaProbe.videoTimes(of: output).sorted().prefix(60)
                let steps = zip(times.dropFirst(), times).map { $0 - $1 }
                #expect(steps.allSatisfy { abs($0 - 1 / 30) < 0.0021 }, "\(steps)")
            }
        }

        @Test(arguments: containers)
        func recordsAFileThatBeginsLater(container: String) async throws {
            try await withTemporaryDirectory { directory in
                let path = try await segments(container, in: directory)[2]
                let output = directory.file("out.mkv")
                let ended = try await GstBridge.run([
                    "record", "--capture", "filesrc location=\(path) ! parsebin", output,
                ])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(try await CountedFilm.numbers(of: output) == Array(120..<180))
            }
        }

        @Test func repairsAFileThatBeginsLater() async throws {
            try await withTemporaryDirectory { directory in
                let path = try await segments("mkv", in: directory)[2]
                let bytes = try Data(contentsOf: URL(filePath: path))
                let (cut, whole) = (directory.file("cut.mkv"), directory.file("repaired.mkv"))
                try bytes.prefix(bytes.count * 3 / 4).write(to: URL(filePath: cut))
                let ended = try await GstBridge.run(["repair", cut, whole])
                #expect(ended.status == 0, "\(ended.errors)")
                let numbers = try await CountedFilm.numbers(of: whole)
                #expect(numbers.count > 30 && numbers == Array(120..<120 + numbers.count))
                let times = try await MediaProbe.videoTimes(of: whole).sorted()
                let steps = zip(times.dropFirst(), times).map { $0 - $1 }
                #expect(steps.allSatisfy { abs($0 - 1 / 30) < 0.0021 }, "\(steps)")
            }
        }

        @Test func reportsATruncatedFileThatBeginsLater() async throws {
            try await withTemporaryDirectory { directory in
                let path = try await segments("mkv", in: directory)[2]
                let bytes = try Data(contentsOf: URL(filePath: path))
                let cut = directory.file("cut.mkv")
                try bytes.prefix(bytes.count / 2).write(to: URL(filePath: cut))
                let ended = try await GstBridge.run([
                    "record", "--capture", "filesrc location=\(cut) ! parsebin",
                    directory.file("out.mkv"),
                ])
                #expect(ended.status == 1)
                #expect(ended.errors.contains("cut off"), "\(ended.errors)")
            }
        }
    }
}
