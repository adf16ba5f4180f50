import Dispatch
import Foundation
import TestSupport
import Testing

@testable import MediaBridge

/// A ring removes the oldest files of a recording, and nothing else.
@Suite("Rings", .hangGuard) struct RingTests {
    private static func recorder(
        _ path: String, _ segments: RecordingSegments, isDated: Bool = false
    ) throws -> Recorder {
        var configuration = Recorder.Configuration()
        configuration.whenFull = .wait
        (configuration.isDated, configuration.isUTC) = (isDated, isDated)
        configuration.segments = segments
        configuration.segments?.length = .seconds(1)
        return try Recorder(path, configuration: configuration)
    }

    private static func record(
        _ count: Int, into recorder: Recorder
    ) async throws -> (report: RecorderReport, warnings: [String]) {
        let events = recorder.events
        try recorder.start()
        for index in 0..<count { try await recorder.write(RecordedFrames().picture(index)) }
        let report = try await recorder.stop()
        var warnings: [String] = []
        for await event in events {
            if case .warning(let error) = event { warnings.append(error.message) }
        }
        return (report, warnings)
    }

    @Test(
        arguments: [RecordingSegments(keepFiles: 2), RecordingSegments(keepBytes: 50_000)],
        ["mkv", "mp4", "ts"])
    func protectedFilesDoNotCount(keep: RecordingSegments, ending: String) async throws {
        try await withTemporaryDirectory { directory in
            let old = (0..<3).map { "out-0000\($0).\(ending)" }
            for name in old {
                try Data(count: 50_000).write(to: URL(filePath: directory.file(name)))
                try Data().write(to: URL(filePath: directory.file("\(name).keep")))
            }
            let recorder = try Self.recorder(directory.file("out.\(ending)"), keep)
            let (report, warnings) = try await Self.record(100, into: recorder)
            let left = directory.contents.filter { !$0.hasSuffix(".keep") }
            #expect(left.starts(with: old) && left.count >= 5)
            #expect(left.suffix(2) == ["out-00005.\(ending)", "out-00006.\(ending)"])
            #expect(report.removedFiles == 7 - left.count && warnings.isEmpty)
            #expect(report.files.count == left.count - 3)
        }
    }

    @Test func ringRemovesNothingThroughASymbolicLink() async throws {
        try await withTemporaryDirectory { directory in
            for name in ["elsewhere", "20200102"] {
                try FileManager.default.createDirectory(
                    atPath: directory.file(name), withIntermediateDirectories: false)
                _ = try directory.write("theirs", to: "\(name)/100000.mkv")
            }
            #expect(symlink("elsewhere", directory.file("20200101")) == 0)
            #expect(symlink("elsewhere/100000.mkv", directory.file("20200102/110000.mkv")) == 0)
            let recorder = try Self.recorder(
                directory.file("%Y%m%d/%H%M%S.mkv"), .init(keepFiles: 1), isDated: true)
            let (report, warnings) = try await Self.record(50, into: recorder)
            #expect(report.files.count == 1 && report.removedFiles == 2 && warnings.isEmpty)
            #expect(
                try String(contentsOfFile: directory.file("elsewhere/100000.mkv"), encoding: .utf8)
                    == "theirs")
            let rest = try FileManager.default.contentsOfDirectory(
                atPath: directory.file("20200102"))
            #expect(rest == ["110000.mkv"])
        }
    }

    /// The recording's own directory is a link.
    @Test func ringReportsOnceThatItCannotRemoveFiles() async throws {
        try await withTemporaryDirectory { directory in
            try FileManager.default.createDirectory(
                atPath: directory.file("elsewhere"), withIntermediateDirectories: false)
            for year in 2020..<2200 {
                #expect(symlink("elsewhere", directory.file("\(year)")) == 0)
            }
            let recorder = try Self.recorder(
                directory.file("%Y/%m%d%H%M%S.mkv"), .init(keepFiles: 1), isDated: true)
            let (report, warnings) = try await Self.record(100, into: recorder)
            #expect(report.removedFiles == 0 && report.files.count == 4)
            #expect(warnings.count == 1)
            #expect(
                warnings.first?.hasSuffix("a directory in its path is a symbolic link") == true)
            let left = try FileManager.default.contentsOfDirectory(
                atPath: directory.file("elsewhere"))
            #expect(left.count == 4)
        }
    }

    @Test func ringSparesAFileThatAnotherRecordingWrites() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out-00000.mkv")
            let claim = try #require(try ClaimedFile(path, mustBeNew: true))
            let recorder = try Self.recorder(directory.file("out.mkv"), .init(keepFiles: 1))
            let (report, warnings) = try await Self.record(75, into: recorder)
            #expect(report.removedFiles == 2 && warnings.isEmpty)
            #expect(directory.contents == ["out-00000.mkv", "out-00003.mkv"])
            claim.unlock()
        }
    }

    @Test func recordingDoesNotWaitForItsRing() async throws {
        try await withTemporaryDirectory { directory in
            for index in 0..<50 { _ = try directory.write("old", to: "out-000\(10 + index).mkv") }
            let recorder = try Self.recorder(directory.file("out.mkv"), .init(keepFiles: 2))
            let isReleased = DispatchSemaphore(value: 0)
            try #require(recorder.writer.ring).queue.async { isReleased.wait() }
            try recorder.start()
            for index in 0..<110 { try await recorder.write(RecordedFrames().picture(index)) }
            await recorder.wait(forUnits: 110)
            #expect(recorder.report.removedFiles == 0)
            isReleased.signal()
            let report = try await recorder.stop()
            #expect(report.removedFiles == 53 && report.video?.written == 110)
            #expect(directory.contents == ["out-00063.mkv", "out-00064.mkv"])
        }
    }
}
