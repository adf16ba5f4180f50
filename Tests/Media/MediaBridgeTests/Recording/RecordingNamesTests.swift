import Foundation
import MediaBridge
import TestSupport
import Testing

/// Recordings that would write to the same file.
@Suite("Names of recordings", .hangGuard) struct RecordingNamesTests {
    private static func recorder(
        _ path: String, _ whenExists: WhenExists
    ) throws -> Recorder {
        var configuration = Recorder.Configuration()
        configuration.whenExists = whenExists
        return try Recorder(path, configuration: configuration)
    }

    /// Writes `count` frames, and waits until the file has been started.
    private static func begin(_ recorder: Recorder, pictures count: Int) async throws {
        try recorder.start()
        let events = recorder.events
        for index in 0..<count { try await recorder.write(RecordedFrames().picture(index)) }
        for await event in events { if case .fileStarted = event { return } }
    }

    @Test func recordingsWithTheSameNameGetSeparateFiles() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("__.mkv")
            let counts = [12, 15, 18]
            var recorders: [Recorder] = []
            for count in counts {
                let recorder = try Self.recorder(path, .number)
                try await Self.begin(recorder, pictures: count)
                recorders.append(recorder)
            }
            var files: [RecordedFile] = []
            for recorder in recorders { files += try await recorder.stop().files }
            #expect(
                files.map(\.path)
                    == [path, directory.file("__-00001.mkv"), directory.file("__-00002.mkv")])
            for (file, count) in zip(files, counts) {
                #expect(file.frames == count)
                #expect(try await MediaProbe.packets(of: file.path).count == count)
            }
        }
    }

    @Test(arguments: [Int.max, Int.max - 1])
    func numberingDoesNotContinueAnEnormousNumber(number: Int) async throws {
        try await withTemporaryDirectory { directory in
            let other = directory.file("out-\(number).mkv")
            try Data("theirs".utf8).write(to: URL(filePath: other))
            var configuration = Recorder.Configuration()
            configuration.segments = RecordingSegments(length: .seconds(1))
            let recorder = try Recorder(directory.file("out.mkv"), configuration: configuration)
            try await Self.begin(recorder, pictures: 10)
            let report = try await recorder.stop()
            #expect(report.files.map(\.path) == [directory.file("out-00000.mkv")])
        }
    }

    @Test func segmentsAndReplaysLeaveExistingFilesAlone() async throws {
        try await withTemporaryDirectory { directory in
            let taken = ["out-00000.mkv", "out-00002.mkv", "replay.mkv"]
            for name in taken {
                try Data("theirs".utf8).write(to: URL(filePath: directory.file(name)))
            }
            var configuration = Recorder.Configuration()
            configuration.whenExists = .number
            configuration.segments = RecordingSegments(length: .seconds(1))
            configuration.replay = .seconds(10)
            let recorder = try Recorder(directory.file("out.mkv"), configuration: configuration)
            try recorder.start()
            for index in 0..<50 { try await recorder.write(RecordedFrames().picture(index)) }
            let report = try await recorder.stop()
            let replay = try await recorder.saveReplay(directory.file("replay.mkv"))
            #expect(
                report.files.map(\.path)
                    == [directory.file("out-00003.mkv"), directory.file("out-00004.mkv")])
            #expect(report.files.map(\.frames).reduce(0, +) == 50)
            #expect(replay.map(\.path) == [directory.file("replay-00001.mkv")])
            for name in taken {
                let content = try Data(contentsOf: URL(filePath: directory.file(name)))
                #expect(content == Data("theirs".utf8))
            }
        }
    }

    @Test(arguments: ["mkv", "mp4"])
    func aFileThatAnotherRecordingWritesIsNotOverwritten(container: String) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.\(container)")
            let first = try Self.recorder(path, .overwrite)
            try await Self.begin(first, pictures: 20)
            let second = try Self.recorder(path, .overwrite)
            try second.start()
            try? await second.write(RecordedFrames().picture(0))
            let error = await #expect(throws: PipelineError.self) { try await second.stop() }
            #expect(error?.message == "another recording is writing \"\(path)\"")
            #expect(second.report.files.isEmpty)
            try await first.stop()
            #expect(try await MediaProbe.packets(of: path).count == 20)
            // The name is free again.
            let third = try Self.recorder(path, .overwrite)
            try await Self.begin(third, pictures: 10)
            try await third.stop()
            #expect(try await MediaProbe.packets(of: path).count == 10)
        }
    }

    @Test func movedFileIsReportedAtItsNewPath() async throws {
        try await withTemporaryDirectory { directory in
            let (before, after) = (directory.file("before"), directory.file("after"))
            try FileManager.default.createDirectory(
                atPath: before, withIntermediateDirectories: false)
            let recorder = try Self.recorder("\(before)/out.mkv", .overwrite)
            try await Self.begin(recorder, pictures: 20)
            try FileManager.default.moveItem(atPath: before, toPath: after)
            let file = try #require(try await recorder.stop().files.first)
            #expect(file.path.hasSuffix("/after/out.mkv"), "\(file.path)")
            #expect(file.bytes == (try Data(contentsOf: URL(filePath: file.path)).count))
            #expect(try await MediaProbe.packets(of: file.path).count == 20)
        }
    }
}
