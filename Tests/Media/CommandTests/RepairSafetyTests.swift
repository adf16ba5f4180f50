import Foundation
import MediaBridge
import TestSupport
import Testing

extension CommandTests {
    /// `gst-bridge repair` with an unexpected recording, name or directory.
    @Suite(.hangGuard) struct RepairSafetyTests {
        private func killed(_ name: String, in directory: TemporaryDirectory) async throws -> String
        {
            let recording = try #require(KilledRecording.all.first { $0.name.hasSuffix(name) })
            return try await recording.make(in: directory)
        }

        // MARK: The content of the file

        /// An MP4 index with an edit list of version 1: one empty edit for each of the given
        /// durations.
        private static func movie(edits: [UInt64]) -> Data {
            func box(_ type: String, _ content: Data) -> Data {
                var size = UInt32(content.count + 8).bigEndian
                return Data(bytes: &size, count: 4) + Data(type.utf8) + content
            }
            func number<T: FixedWidthInteger>(_ value: T) -> Data {
                withUnsafeBytes(of: value.bigEndian) { Data($0) }
            }
            let list =
                Data([1, 0, 0, 0]) + number(UInt32(edits.count))
                + edits.reduce(Data()) {
                    $0 + number($1) + number(Int64(-1)) + number(UInt32(65536))
                }
            let handler = Data(count: 8) + Data("vide".utf8) + Data(count: 13)
            let track = box(
                "trak",
                box("edts", box("elst", list)) + box("mdia", box("hdlr", handler)))
            return box("ftyp", Data("isom".utf8) + Data(count: 4))
                + box("moov", track + box("mvex", Data())) + box("moof", Data())
        }

        @Test(
            arguments: [
                [UInt64(Int64.max), UInt64(Int64.max)], [.max, .max], [UInt64(Int64.max), 1],
                [1 << 63, 1 << 63], [.max], [0, 0],
            ])
        func anEditListOfAnyLengthIsRead(edits: [UInt64]) async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("a.mp4")
                try Self.movie(edits: edits).write(to: URL(fileURLWithPath: path))
                let ended = try await GstBridge.run(["repair", path])
                #expect(ended.status == 1, "\(ended.errors)")
                #expect(ended.errors.hasPrefix("gst-bridge: "), "\(ended.errors)")
            }
        }

        /// A killed recording in which random bytes are overwritten.
        @Test(arguments: [".mkv", ".mp4", ".ts"], [1, 2] as [UInt64])
        func damageIsRepairedOrReportedButNotAsADiskError(name: String, seed: UInt64) async throws {
            try await withTemporaryDirectory { directory in
                let bytes = try Data(
                    contentsOf: URL(fileURLWithPath: try await killed(name, in: directory)))
                let path = directory.file("damaged\(name)")
                var generator = SeededGenerator(seed: seed)
                for turn in 0..<6 {
                    var damaged = bytes
                    for _ in 0..<Int.random(in: 1...12, using: &generator) {
                        let reach = Bool.random(using: &generator) ? 2000 : damaged.count
                        let at = Int.random(in: 0..<min(reach, damaged.count), using: &generator)
                        damaged[at] = UInt8.random(in: 0...255, using: &generator)
                    }
                    try damaged.write(to: URL(fileURLWithPath: path))
                    let ended = try await GstBridge.run(["repair", path])
                    #expect(ended.status <= 1, "\(name) \(seed) \(turn): \(ended.errors)")
                    #expect(
                        !ended.errors.contains("no progress for"),
                        "\(name) \(seed) \(turn): \(ended.errors)")
                    if ended.status == 1 {
                        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == damaged)
                    }
                }
                #expect(directory.contents.count == 2, "\(directory.contents)")
            }
        }

        // MARK: The type of the file

        @Test(arguments: ["pipe", "device", "directory"])
        func nonFileIsRefusedAtOnce(kind: String) async throws {
            try await withTemporaryDirectory { directory in
                var path = directory.file("a.mkv")
                switch kind {
                case "pipe": #expect(mkfifo(path, 0o600) == 0)
                case "device": path = "/dev/zero"
                default:
                    try FileManager.default.createDirectory(
                        atPath: path, withIntermediateDirectories: false)
                }
                for more in [[], [directory.file("b.mkv")]] {
                    let ended = try await GstBridge.run(["repair", path] + more)
                    #expect(ended.status == 1)
                    #expect(ended.errors.contains("is not a file"), "\(ended.errors)")
                }
                #expect(directory.contents.count <= 1)
            }
        }

        // MARK: Names

        @Test(
            arguments: [
                (".mkv", "b.mp4"), (".mkv", "b.webm"), (".mkv", "B.TS"), (".mp4", "b.mkv"),
                (".ts", "b.mov"), (".webm", "b.mkv"),
            ])
        func extensionOfAnotherContainerIsRefused(name: String, other: String) async throws {
            try await withTemporaryDirectory { directory in
                let path = try await killed(name, in: directory)
                let ended = try await GstBridge.run(["repair", path, directory.file(other)])
                #expect(ended.status == 1)
                #expect(ended.errors.contains("a name that ends in \(name)"), "\(ended.errors)")
                #expect(directory.contents.count == 1)
            }
        }

        @Test(arguments: ["b", "b.bak", "b.repaired"])
        func nameWithoutAKnownExtensionIsAccepted(other: String) async throws {
            try await withTemporaryDirectory { directory in
                let path = try await killed(".mkv", in: directory)
                let ended = try await GstBridge.run(["repair", path, directory.file(other)])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(try await Packets(of: directory.file(other)).duration != nil)
            }
        }

        // MARK: The new file

        @Test(.enabled(if: geteuid() == 0, "only root gives files away"))
        func repairKeepsTheOwnerOfTheFile() async throws {
            try await withTemporaryDirectory { directory in
                let path = try await killed(".mkv", in: directory)
                #expect(chown(path, 1234, 2345) == 0 && chmod(path, 0o640) == 0)
                let ended = try await GstBridge.run(["repair", path])
                #expect(ended.status == 0, "\(ended.errors)")
                var about = stat()
                #expect(stat(path, &about) == 0)
                #expect(about.st_uid == 1234 && about.st_gid == 2345)
                #expect(about.st_mode & 0o7777 == 0o640)
            }
        }

        /// Places a link at every draft name that a current or future process ID could produce.
        @Test func repairDoesNotFollowALinkAtItsTemporaryName() async throws {
            try await withTemporaryDirectory { directory in
                let path = try await killed(".mkv", in: directory)
                let name = (path as NSString).lastPathComponent
                let victim = try directory.write("dear to somebody", to: "victim")
                let own = ProcessInfo.processInfo.processIdentifier
                for pid in 1..<(own + 4000) {
                    symlink(victim, directory.file(".\(name).repair-\(pid)"))
                }
                let ended = try await GstBridge.run(["repair", path])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(try String(contentsOfFile: victim, encoding: .utf8) == "dear to somebody")
                #expect(try await Packets(of: path).duration != nil)
                var about = stat()
                #expect(lstat(path, &about) == 0 && about.st_mode & S_IFMT == S_IFREG)
            }
        }
    }
}
