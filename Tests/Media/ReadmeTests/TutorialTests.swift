import Foundation
import MediaBridge
import TestSupport
import Testing

extension ReadmeTests {
    /// The code that the tutorials show is compiled and run here.
    @Suite struct TutorialTests {
        private static let articles = "Sources/MediaBridge/MediaBridge.docc"

        /// The code blocks of a tutorial in the given language.
        private func blocks(_ language: String, of tutorial: String) throws -> [String] {
            try Repository.text("\(Self.articles)/\(tutorial)")
                .components(separatedBy: "```\(language)\n").dropFirst()
                .compactMap { $0.components(separatedBy: "```").first }
        }

        @Test func everyTutorialBlockIsCompiledOrRun() throws {
            let tutorials = try FileManager.default
                .contentsOfDirectory(atPath: Repository.path(Self.articles))
                .filter { $0.hasPrefix("Tutorial") }
            #expect(tutorials.count == 5)
            let code = try String(
                contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                    .appending(path: "Tutorials.swift"), encoding: .utf8)
            for tutorial in tutorials {
                for block in try blocks("swift", of: tutorial) {
                    let lines = block.split(separator: "\n", omittingEmptySubsequences: false)
                        .drop { $0.isEmpty || $0.hasPrefix("import ") }
                    let here = lines.map { $0.isEmpty ? "" : "        \($0)" }
                        .joined(separator: "\n")
                    #expect(code.contains(here), "of \(tutorial), not here:\n\(block)")
                }
                if tutorial != "TutorialCommand.md" {
                    #expect(try blocks("sh", of: tutorial).isEmpty)
                }
            }
        }

        @Test func commandTutorialWritesItsFiles() async throws {
            let commands = try blocks("sh", of: "TutorialCommand.md")
            #expect(commands.count == 4)
            try await withTemporaryDirectory { directory in
                let script = """
                    set -e
                    cd "\(directory.path)"
                    gst-bridge() { "\(try Tool.gstBridge)" "$@"; }
                    \(commands.joined(separator: "\n"))
                    """
                try await Tool.check("bash", ["-c", script])
                #expect(FileManager.default.fileExists(atPath: directory.file("first.png")))
                for name in ["take.mkv", "turned.mp4", "again.mp4"] {
                    let video = try await MediaProbe(of: directory.file(name)).video
                    #expect(video?.frames == 90)
                    #expect(video?.width == (name == "take.mkv" ? 640 : 360))
                }
            }
        }

        @Test func callTutorialSeesAndChangesFrames() async throws {
            try await withTemporaryDirectory { directory in
                await #expect(processExitsWith: .success) { [path = directory.path as String] in
                    try enter(path)
                    try await Tutorial.seeing()
                    try await Tutorial.changing()
                }
                let path = directory.file("half.mkv")
                #expect(try await MediaProbe(of: path).video?.frames == 60)
                let luma = try await MediaProbe.luma(of: path, columns: 1, rows: 4)
                #expect(luma.allSatisfy { $0[0] < 32 && $0[3] > 32 })
            }
        }

        @Test func recordingTutorialKeepsTheLastTwoSeconds() async throws {
            try await withTemporaryDirectory { directory in
                await #expect(processExitsWith: .success) { [path = directory.path as String] in
                    try enter(path)
                    try await Tutorial.recording()
                }
                let files = try FileManager.default.contentsOfDirectory(atPath: directory.path)
                #expect(files.sorted() == ["ring-00003.mkv", "ring-00004.mkv"])
                let last = directory.file("ring-00004.mkv")
                #expect(try await MediaProbe(of: last).video?.frames == 30)
                // After four seconds the bar is 128 of 320 pixels long.
                let luma = try await MediaProbe.luma(of: last, columns: 10, rows: 15)
                #expect(luma.allSatisfy { $0[14 * 10 + 3] > 200 })
            }
        }

        @Test func engineTutorialSwitchesCamerasWithinOneFile() async throws {
            try await withTemporaryDirectory { directory in
                await #expect(processExitsWith: .success) { [path = directory.path as String] in
                    try enter(path)
                    try await Tutorial.engine()
                }
                let brightness = try await MediaProbe.meanLuma(of: directory.file("change.mkv"))
                #expect((brightness.first ?? 0) > 200 && (brightness.last ?? 255) < 50)
            }
        }

        @Test func classTutorialStartsItsSourceTwice() async throws {
            let (pictures, trace) = try await Tutorial.classes()
            #expect((pictures ?? 0) >= 2)
            #expect(trace.count { $0.hasPrefix("source") && $0.hasSuffix(": start") } == 2)
        }
    }
}
