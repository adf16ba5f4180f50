import Foundation
import Glibc
import MediaBasics
import TestSupport
import Testing

@testable import MediaBridge

/// Other processes repair, remove, replace or move files that are being written.
@Suite("Interference with the file", .hangGuard) struct FileInterferenceTests {
    private static let endings = ["mkv", "mp4", "webm", "ts"]

    private static func recorder(
        _ path: String, _ clock: any Timeline = VirtualTimeline()
    ) throws -> Recorder {
        var configuration = Recorder.Configuration()
        configuration.whenFull = .wait
        return try Recorder(path, configuration: configuration, clock: clock)
    }

    /// Hands over frames, and waits until the muxer has them.
    private static func write(_ range: Range<Int>, to recorder: Recorder) async throws {
        for index in range { try await recorder.write(RecordedFrames().picture(index)) }
        await recorder.wait(forUnits: range.upperBound)
    }

    /// Records frames into a complete file.
    private static func record(_ count: Int, into path: String) async throws {
        let recorder = try recorder(path)
        try recorder.start()
        try await write(0..<count, to: recorder)
        try await recorder.stop()
    }

    @Test(arguments: endings) func aCancelledRepairLeavesTheFile(ending: String) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.\(ending)")
            try await Self.record(60, into: path)
            let before = try Data(contentsOf: URL(filePath: path))
            let repair = Task { try await Recordings.repair(path) }
            repair.cancel()
            // A complete file needs no repair, which may have been found before.
            _ = try? await repair.value
            #expect(try Data(contentsOf: URL(filePath: path)) == before)
            #expect(directory.contents == ["out.\(ending)"])
        }
    }

    // MARK: Files that are being recorded

    @Test(arguments: endings, [false, true])
    func repairRefusesAFileThatIsBeingRecorded(ending: String, isPaused: Bool) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.\(ending)")
            let recorder = try Self.recorder(path)
            try recorder.start()
            try await Self.write(0..<40, to: recorder)
            if isPaused { recorder.pause() }
            for output in [nil, directory.file("new.\(ending)")] {
                let error = await #expect(throws: PipelineError.self) {
                    try await Recordings.repair(path, to: output)
                }
                #expect(error?.message == "another recording is writing \"\(path)\"")
            }
            if isPaused { recorder.resume() }
            try await Self.write(40..<60, to: recorder)
            try await recorder.stop()
            #expect(try await MediaProbe.packets(of: path).count == 60)
            #expect(directory.contents == ["out.\(ending)"])
        }
    }

    /// The other file can be read back, too.
    @Test(arguments: endings)
    func recordingWhoseFileWasReplacedByAnotherRecordingFails(ending: String) async throws {
        try await withTemporaryDirectory { directory in
            let (path, other) = (directory.file("out.\(ending)"), directory.file("b.\(ending)"))
            try await Self.record(20, into: other)
            let recorder = try Self.recorder(path)
            try recorder.start()
            try await Self.write(0..<30, to: recorder)
            try #require(rename(other, path) == 0)
            let error = await #expect(throws: PipelineError.self) { try await recorder.stop() }
            #expect(
                error?.message.hasPrefix("\"\(path)\" was written, but is no longer there") == true)
            #expect(recorder.report.files.map { $0.failure == nil } == [false])
            #expect(try await MediaProbe.packets(of: path).count == 20)
        }
    }

    @Test(arguments: endings)
    func recordingEndsSoonAfterItsFileWasRemoved(ending: String) async throws {
        try await withTemporaryDirectory { directory in
            let (path, time) = (directory.file("out.\(ending)"), VirtualTimeline())
            let recorder = try Self.recorder(path, time)
            let events = recorder.events
            try recorder.start()
            try await Self.write(0..<30, to: recorder)
            time.advance(by: .seconds(1))
            #expect(recorder.report.failure == nil)
            unlink(path)
            time.advance(by: .seconds(1))
            #expect(recorder.report.failure?.message.contains("is no longer there") == true)
            for await _ in events {}
            #expect(recorder.consume(try RecordedFrames().picture(30)) == .dropped(.closed))
        }
    }

    @Test(arguments: endings)
    func fileThatIsMovedWhileItIsRecordedIsComplete(ending: String) async throws {
        try await withTemporaryDirectory { directory in
            let (path, moved) = (directory.file("out.\(ending)"), directory.file("b.\(ending)"))
            let time = VirtualTimeline()
            let recorder = try Self.recorder(path, time)
            try recorder.start()
            try await Self.write(0..<30, to: recorder)
            try #require(rename(path, moved) == 0)
            // The old path now leads to another file.
            try Data("theirs".utf8).write(to: URL(filePath: path))
            time.advance(by: .seconds(1))
            try await Self.write(30..<60, to: recorder)
            let file = try #require(try await recorder.stop().files.first)
            #expect(file.path.hasSuffix("/b.\(ending)"))
            #expect(try await MediaProbe.packets(of: moved).count == 60)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "theirs")
        }
    }

    @Test(arguments: endings)
    func recordingWhoseFileWasTruncatedFails(ending: String) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.\(ending)")
            let recorder = try Self.recorder(path)
            try recorder.start()
            // The muxer writes on its own thread: only a file with content can lose some.
            var count = 0
            repeat {
                try await Self.write(count..<count + 30, to: recorder)
                count += 30
            } while FileManager.default.contents(atPath: path)?.isEmpty ?? true
            #expect(truncate(path, 0) == 0)
            try await Self.write(count..<count + 30, to: recorder)
            let error = await #expect(throws: PipelineError.self) { try await recorder.stop() }
            #expect(error?.message.contains(path) == true, "\(String(describing: error))")
        }
    }

    @Test func outputDoesNotOverwriteAFileThatIsBeingRecorded() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            let recorder = try Self.recorder(path)
            try recorder.start()
            try await Self.write(0..<30, to: recorder)
            let plan = BridgePlan(
                capture: "videotestsrc num-buffers=1",
                outputs: ["x264enc ! matroskamux ! filesink location=\(path)"])
            let error = #expect(throws: PipelineError.self) { try Bridge(plan) }
            #expect(error?.message == "another recording is writing \"\(path)\"")
            try await recorder.stop()
            #expect(try await MediaProbe.packets(of: path).count == 30)
        }
    }

    // MARK: Files that are replaced

    @Test(arguments: endings)
    func clipThatFailsLeavesTheOldFile(ending: String) async throws {
        try await withTemporaryDirectory { directory in
            let (path, old) = (directory.file("in.\(ending)"), directory.file("old.\(ending)"))
            try await Self.record(60, into: path)
            try await Self.record(5, into: old)
            let bytes = try Data(contentsOf: URL(filePath: old))
            let recordings = try await Recordings(of: [path])
            // The old file is locked by a recording.
            let claim = try ClaimedFile(existing: old)
            await #expect(throws: PipelineError.self) {
                try await recordings.clip(into: old, whenExists: .overwrite)
            }
            claim.unlock()
            // The recording is gone when the clip reads it.
            try #require(rename(path, path + ".away") == 0)
            await #expect(throws: PipelineError.self) {
                try await recordings.clip(into: old, whenExists: .overwrite)
            }
            try #require(rename(path + ".away", path) == 0)
            // The clip is cancelled before it is complete.
            let task = Task { try await recordings.clip(into: old, whenExists: .overwrite) }
            task.cancel()
            await #expect(throws: PipelineError.self) { try await task.value }
            #expect(try Data(contentsOf: URL(filePath: old)) == bytes)
            #expect(directory.contents == ["in.\(ending)", "old.\(ending)"])
            _ = try await recordings.clip(into: old, whenExists: .overwrite)
            #expect(try await MediaProbe.packets(of: old).count == 60)
            #expect(directory.contents == ["in.\(ending)", "old.\(ending)"])
        }
    }

    @Test func clipKeepsTheModeOfTheFileItReplaces() async throws {
        try await withTemporaryDirectory { directory in
            let (path, old) = (directory.file("in.mkv"), directory.file("old.mkv"))
            try await Self.record(20, into: path)
            try await Self.record(5, into: old)
            #expect(chmod(old, 0o640) == 0)
            let link = directory.file("link.mkv")
            #expect(symlink("old.mkv", link) == 0)
            let recordings = try await Recordings(of: [path])
            _ = try await recordings.clip(into: link, whenExists: .overwrite)
            var about = stat()
            #expect(lstat(old, &about) == 0 && about.st_mode == S_IFREG | 0o640)
            #expect(lstat(link, &about) == 0 && about.st_mode & S_IFMT == S_IFLNK)
            #expect(try await MediaProbe.packets(of: old).count == 20)
        }
    }

    /// The header of a fragment in the middle of a file is overwritten.
    @Test func repairDoesNotReplaceADamagedMP4() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("in.mp4")
            var configuration = Recorder.Configuration()
            configuration.whenFull = .wait
            configuration.isFragmented = true
            let recorder = try Recorder(path, configuration: configuration)
            try recorder.start()
            try await Self.write(0..<60, to: recorder)
            try await recorder.stop()
            var bytes = try Data(contentsOf: URL(filePath: path))
            let second = try #require(
                bytes.range(of: Data("moof".utf8)).flatMap {
                    bytes.range(of: Data("moof".utf8), in: $0.upperBound..<bytes.endIndex)
                })
            bytes.replaceSubrange(second.lowerBound - 4..<second.upperBound, with: Data(count: 8))
            try bytes.write(to: URL(filePath: path))
            let error = await #expect(throws: PipelineError.self) {
                try await Recordings.repair(path)
            }
            #expect(error?.message.hasPrefix("\(path) is damaged") == true)
            #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
        }
    }

    /// A packet in the middle of a transport stream is lost.
    @Test func repairDoesNotReplaceADamagedTransportStream() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("in.ts")
            try await Self.record(60, into: path)
            var bytes = try Data(contentsOf: URL(filePath: path))
            let middle = bytes.count / 188 / 2 * 188
            bytes.removeSubrange(middle..<middle + 5 * 188)
            try bytes.write(to: URL(filePath: path))
            let error = await #expect(throws: PipelineError.self) {
                try await Recordings.repair(path)
            }
            #expect(error?.message.hasPrefix("\(path) is damaged") == true)
            #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
            let report = try await Recordings.repair(path, to: directory.file("new.ts"))
            #expect(report.damage.count == 1)
            #expect(directory.contents == ["in.ts", "new.ts"])
        }
    }
}
