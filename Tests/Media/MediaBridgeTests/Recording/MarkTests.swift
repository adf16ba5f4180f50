import Foundation
import TestSupport
import Testing

@testable import MediaBridge

/// Marks become chapters of their file.
@Suite("Marks", .hangGuard) struct MarkTests {
    private struct Chapter: Equatable {
        var name: String
        var time: Double
    }

    private let frames = RecordedFrames()

    /// The chapters of a file, as ffmpeg reads them.
    private static func chapters(of path: String) async throws -> [Chapter] {
        struct Answer: Decodable {
            struct Chapter: Decodable {
                enum CodingKeys: String, CodingKey { case start = "start_time", tags }
                var start: String
                var tags: [String: String]
            }
            var chapters: [Chapter]
        }
        let text = try await Tool.check(
            "ffprobe", ["-v", "error", "-show_chapters", "-of", "json", path])
        return try JSONDecoder().decode(Answer.self, from: Data(text.utf8)).chapters.map {
            Chapter(name: $0.tags["title"] ?? "", time: Double($0.start) ?? -1)
        }
    }

    /// Records 100 pictures of 40 ms, and marks some of them.
    private func record(
        _ path: String, marks: [Int: String],
        _ change: (inout Recorder.Configuration) -> Void = { _ in }
    ) async throws -> RecorderReport {
        var configuration = Recorder.Configuration()
        configuration.whenFull = .wait
        change(&configuration)
        let recorder = try Recorder(path, configuration: configuration)
        try recorder.start()
        for index in 0..<100 {
            try await recorder.write(frames.picture(index))
            if let name = marks[index] { try recorder.mark(name) }
        }
        return try await recorder.stop()
    }

    @Test func fragmentedFileHasNoChapters() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mp4")
            let report = try await record(path, marks: [25: "goal"]) { $0.isFragmented = true }
            #expect(report.files[0].marks.map(\.name) == ["goal"])
            #expect(try await Self.chapters(of: path).isEmpty)
        }
    }

    @Test(arguments: ["mkv", "webm", "mp4", "ts"])
    func markIsAChapterAtTheLastWrittenFrame(ending: String) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.\(ending)")
            let marks = [0: "kick-off", 25: "goal \u{26BD} \"1:0\"", 99: "end"]
            let report = try await record(path, marks: marks)
            let expected = marks.sorted { $0.key < $1.key }
            let placed = report.files[0].marks
            #expect(placed.map(\.name) == expected.map(\.value))
            #expect(placed.map(\.time) == expected.map { .milliseconds(40 * $0.key) })
            if ending != "ts" {
                let chapters = try await Self.chapters(of: path)
                #expect(
                    chapters == expected.map { Chapter(name: $0.value, time: Double($0.key) / 25) })
            }
            #expect(try await MediaProbe(of: path).video?.frames == 100)
            #expect(try await Tool.run("gst-discoverer-1.0", [path]).status == 0)
        }
    }

    @Test(arguments: ["mkv", "webm", "mp4"])
    func keepsALineBreakInAMark(ending: String) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.\(ending)")
            let log = directory.file("log.jsonl")
            let report = try await record(path, marks: [25: "first\nhalf"]) { $0.frameLog = log }
            #expect(report.files[0].marks.map(\.name) == ["first\nhalf"])
            #expect(try await Self.chapters(of: path).map(\.name) == ["first\nhalf"])
            let lines = try String(contentsOfFile: log, encoding: .utf8)
            #expect(lines.contains(#""name":"first\nhalf""#))
        }
    }

    @Test(arguments: ["mkv", "mp4"])
    func marksOfAnySizeAndNumberAreStored(ending: String) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.\(ending)")
            let long = String(repeating: "\u{00E9}", count: 300)
            var configuration = Recorder.Configuration()
            configuration.whenFull = .wait
            let recorder = try Recorder(path, configuration: configuration)
            try recorder.start()
            for index in 0..<300 {
                try await recorder.write(frames.picture(index))
                try recorder.mark(index % 5 == 0 ? long : "")
            }
            let report = try await recorder.stop()
            #expect(report.files[0].marks.count == 300)
            let chapters = try await Self.chapters(of: path)
            #expect(chapters.count == (ending == "mp4" ? 255 : 300))
            let stored = ending == "mp4" ? String(long.prefix(127)) : long
            #expect(chapters.count { $0.name == stored } == (ending == "mp4" ? 51 : 60))
            #expect(try await MediaProbe(of: path).video?.frames == 300)
        }
    }

    @Test(arguments: ["mkv", "mp4"])
    func markIsInTheFileOfItsFrameAndProtectsIt(ending: String) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.\(ending)")
            // Files of 20 pictures; the marks are at the borders.
            let marks = [19: "last", 40: "first", 70: "middle"]
            let report = try await record(path, marks: marks) {
                $0.video?.keyFrameInterval = .milliseconds(800)
                $0.segments = RecordingSegments(
                    length: .milliseconds(800), keepFiles: 1)
            }
            let files = report.files.map { ($0.path, $0.marks.map(\.name)) }
            #expect(files.map(\.1) == [["last"], ["first"], ["middle"], []])
            #expect(
                files.map(\.0)
                    == [0, 2, 3, 4].map { directory.file("out-0000\($0).\(ending)") })
            #expect(report.removedFiles == 1)
            for (path, names) in files where !names.isEmpty {
                #expect(try await Self.chapters(of: path).map(\.name) == names)
                #expect(FileManager.default.fileExists(atPath: "\(path).keep"))
            }
        }
    }

    @Test(arguments: 0..<4)
    func killWhileChaptersAreAddedLosesNothing(seed: Int) async throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            _ = try await record(path, marks: [:])
            let before = try Data(contentsOf: URL(filePath: path))
            let frames = try await MediaProbe.videoTimes(of: path)
            let mark = RecordedFile.Mark(name: "goal", time: .seconds(1))
            try MatroskaChapters.add([mark], to: path)
            let after = try Data(contentsOf: URL(filePath: path))
            let added = after[before.count...]
            var states = (0..<8).map { _ in
                before + added.prefix(Int.random(in: 1..<added.count, using: &generator))
            }
            // The size is written, or a part of it, but not the position.
            let first = try #require((0..<before.count).first { before[$0] != after[$0] })
            for bytes in 0..<8 {
                var state = before + added
                state.replaceSubrange(first..<first + bytes, with: after[first..<first + bytes])
                states.append(state)
            }
            for (number, state) in states.enumerated() {
                let torn = directory.file("torn-\(number).mkv")
                try state.write(to: URL(filePath: torn))
                #expect(
                    try await MediaProbe.videoTimes(of: torn) == frames,
                    "seed \(seed), state \(number)")
            }
            #expect(try await Self.chapters(of: path) == [Chapter(name: "goal", time: 1)])
        }
    }

    @Test func splitStartsANewFileAtTheNextFrame() async throws {
        try await withTemporaryDirectory { directory in
            for ending in ["mkv", "mp4", "webm", "ts"] {
                var configuration = Recorder.Configuration()
                configuration.whenFull = .wait
                configuration.video?.keyFrameInterval = .seconds(10)
                let path = directory.file("out.\(ending)")
                let recorder = try Recorder(path, configuration: configuration)
                try recorder.start()
                for index in 0..<60 {
                    try await recorder.write(frames.picture(index))
                    if index == 21 || index == 30 { try recorder.split() }
                }
                let report = try await recorder.stop()
                expectBalanced(report)
                #expect(report.files.map(\.frames) == [22, 9, 29], "\(ending)")
                #expect(
                    report.files.map(\.path)
                        == ["", "-00001", "-00002"].map { directory.file("out\($0).\(ending)") })
            }
        }
    }

    @Test func idleRecorderRefusesMarks() async throws {
        try await withTemporaryDirectory { directory in
            let recorder = try Recorder(directory.file("out.mkv"))
            func refusal(_ body: () throws(PipelineError) -> Void) -> PipelineError.Code? {
                do throws(PipelineError) { try body() } catch { return error.code }
                return nil
            }
            #expect(refusal { () throws(PipelineError) in try recorder.mark("a") } == .invalidState)
            #expect(refusal { () throws(PipelineError) in try recorder.split() } == .invalidState)
            try recorder.start()
            try recorder.split()
            try recorder.mark("before the first frame")
            for index in 0..<10 { try await recorder.write(frames.picture(index)) }
            let report = try await recorder.stop()
            #expect(
                report.files.map(\.marks.count) == [1] && report.files[0].marks[0].time == .zero)
            #expect(refusal { () throws(PipelineError) in try recorder.mark("b") } == .invalidState)
        }
    }
}
