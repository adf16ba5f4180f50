import Foundation
import TestSupport
import Testing

extension CommandTests {
    /// An existing item at an output name survives unless the command is asked to overwrite it.
    @Suite(.hangGuard) struct ExistingFileTests {
        /// The item that exists at the output name.
        enum Present: String, CaseIterable {
            case nothing, file, empty, directory, link, danglingLink, pipe, input
        }
        /// The command that writes.
        enum Command: String, CaseIterable {
            case record, overwrite, segments, ring, snapshot, overwritingSnapshot, repair

            var isSnapshot: Bool { self == .snapshot || self == .overwritingSnapshot }
            var isNumbered: Bool { self == .segments || self == .ring }
            var overwrites: Bool { self == .overwrite || self == .overwritingSnapshot }
        }
        private static let theirs = Data("theirs".utf8)
        private static let capture =
            "videotestsrc num-buffers=30 ! video/x-raw,format=I420,width=64,height=48,framerate=10/1"

        /// Creates the item at the output name.
        ///
        /// - Returns: The file whose bytes must survive, and its bytes; `nil` if there is none.
        private func put(
            _ present: Present, at path: String, in directory: TemporaryDirectory
        ) async throws -> (path: String, bytes: Data)? {
            switch present {
            case .nothing: return nil
            case .file:
                try Self.theirs.write(to: URL(filePath: path))
                return (path, Self.theirs)
            case .empty:
                try Data().write(to: URL(filePath: path))
                return (path, Data())
            case .directory:
                try FileManager.default.createDirectory(
                    atPath: path, withIntermediateDirectories: false)
                let inside = path + "/inside"
                try Self.theirs.write(to: URL(filePath: inside))
                return (inside, Self.theirs)
            case .link:
                let target = try directory.write("theirs", to: "target")
                try FileManager.default.createSymbolicLink(
                    atPath: path, withDestinationPath: target)
                return (target, Self.theirs)
            case .danglingLink:
                try FileManager.default.createSymbolicLink(
                    atPath: path, withDestinationPath: directory.file("nowhere"))
                return nil
            case .pipe:
                try #require(mkfifo(path, 0o600) == 0)
                return nil
            case .input:
                let film = try await Clip().make(at: directory.file("film.mkv"))
                try FileManager.default.moveItem(atPath: film, toPath: path)
                return (path, try Data(contentsOf: URL(filePath: path)))
            }
        }

        /// - Parameter recording: The file that `repair` reads.
        private func arguments(
            _ command: Command, _ present: Present, _ path: String, recording: String
        ) -> [String] {
            let capture =
                present == .input
                ? "filesrc location=\(path) ! decodebin ! videoconvert" : Self.capture
            switch command {
            case .record: return ["record", "--capture", capture, path]
            case .overwrite: return ["record", "--capture", capture, "--overwrite", path]
            case .segments: return ["record", "--capture", capture, "--segment", "1s", path]
            case .ring:
                return ["record", "--capture", capture, "--segment", "1s", "--keep", "3", path]
            case .snapshot: return ["snapshot", "--capture", capture, path]
            case .overwritingSnapshot:
                return ["snapshot", "--capture", capture, "--overwrite", path]
            case .repair: return ["repair", recording, path]
            }
        }

        /// Whether the command should succeed.
        private func succeeds(_ command: Command, _ present: Present) -> Bool {
            switch present {
            case .nothing: true
            // A repaired file is written next to its name and linked to it at the end.
            case _ where command == .repair: false
            case .pipe: true
            case .file, .empty, .link: command.overwrites
            case .directory: false
            // A picture is written to the target of the link.
            case .danglingLink: command.overwrites || command.isSnapshot
            // The capture has ended before the picture is written.
            case .input: command == .overwritingSnapshot
            }
        }

        @Test(arguments: Command.allCases, Present.allCases)
        func existingFileIsNeverLost(command: Command, present: Present) async throws {
            // The input of a snapshot never has the name of its output.
            if command.isSnapshot, present == .input { return }
            // Numbered files have other names: see below.
            if command.isNumbered, present != .nothing { return }
            try await withTemporaryDirectory { directory in
                let path = directory.file(command.isSnapshot ? "out.png" : "out.mkv")
                let kept = try await put(present, at: path, in: directory)
                let recording = directory.file("in.mkv")
                if command == .repair { _ = try await Clip().make(at: recording) }
                let reader =
                    present == .pipe
                    ? try ChildProcess("sh", ["-c", "exec cat \"$0\" >/dev/null", path]) : nil
                defer { reader?.send(signal: SIGKILL) }
                let ended = try await GstBridge.run(
                    arguments(command, present, path, recording: recording))
                if succeeds(command, present) {
                    #expect(ended.status == 0, "\(ended.errors)")
                    if let kept, command.overwrites {
                        #expect(try Data(contentsOf: URL(filePath: kept.path)) != kept.bytes)
                    }
                    return
                }
                #expect(ended.status == 1, "\(ended.errors)")
                #expect(ended.errors.contains(path), "\(ended.errors)")
                if command != .repair, [.file, .empty, .link].contains(present) {
                    #expect(ended.errors.contains("--overwrite"), "\(ended.errors)")
                }
                if let kept {
                    #expect(try Data(contentsOf: URL(filePath: kept.path)) == kept.bytes)
                }
            }
        }

        /// - Parameter taken: The numbers of the existing files.
        @Test(arguments: [[], [0], [0, 1, 2], [7], [3, 12], [99_999]], [nil, 2, 4])
        func segmentNumbersContinueAfterExistingFiles(taken: [Int], keep: Int?) async throws {
            try await withTemporaryDirectory { directory in
                func path(_ number: Int) -> String {
                    let digits = String(number)
                    let zeros = String(repeating: "0", count: max(0, 5 - digits.count))
                    return directory.file("out-\(zeros)\(digits).mkv")
                }
                for number in taken { try Self.theirs.write(to: URL(filePath: path(number))) }
                // These are not segment names.
                let others = ["out-1.mkv", "out-00000.mp4", "out-x.mkv", "another-00001.mkv"]
                for name in others { _ = try directory.write("theirs", to: name) }
                let ended = try await GstBridge.run(
                    ["record", "--capture", Self.capture, "--segment", "1s"]
                        + (keep.map { ["--keep", "\($0)"] } ?? []) + [directory.file("out.mkv")])
                #expect(ended.status == 0, "\(ended.errors)")
                let first = (taken.max() ?? -1) + 1
                let written = [first, first + 1, first + 2]
                let left = (taken + written).suffix(keep ?? 100)
                #expect(
                    Set(directory.contents)
                        == Set(
                            left.map { String(path($0).split(separator: "/").last ?? "") } + others)
                )
                for number in left where taken.contains(number) {
                    #expect(try Data(contentsOf: URL(filePath: path(number))) == Self.theirs)
                }
                for number in left where written.contains(number) {
                    #expect(try await MediaProbe(of: path(number)).video?.frames == 10)
                }
            }
        }

        @Test func shortSegmentsHaveTheRequestedDuration() async throws {
            try await withTemporaryDirectory { directory in
                let ended = try await GstBridge.run([
                    "record", "--capture", Self.capture, "--segment", "500ms",
                    directory.file("out.mkv"),
                ])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(directory.contents.count == 6)
            }
        }
    }
}
