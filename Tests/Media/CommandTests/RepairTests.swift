import Foundation
import TestSupport
import Testing

extension CommandTests {
    /// `gst-bridge repair`, checked with ffprobe and gst-discoverer-1.0.
    @Suite(.hangGuard) struct RepairTests {
        @Test(arguments: KilledRecording.all)
        func aKilledRecordingGetsDurationAndIndexAndKeepsEveryFrame(
            recording: KilledRecording
        ) async throws {
            try await withTemporaryDirectory { directory in
                let killed = try await recording.make(in: directory)
                let original = try Data(contentsOf: URL(fileURLWithPath: killed))
                let before = try await Packets(of: killed)
                #expect(before.pictures.first?.times.count ?? 0 > 45)
                let whole = directory.file("whole-\(recording.name)")
                let ended = try await GstBridge.run(["repair", killed, whole, "--report", "json"])
                #expect(ended.status == 0, "\(ended.errors)")
                let after = try await Packets(of: whole)
                expectSameTimes(after, before, in: recording.name)
                #expect(after.duration ?? 0 > 1.5)
                let facts = try await Tool.check("gst-discoverer-1.0", ["-v", whole])
                #expect(facts.contains("Seekable: yes"), "\(facts)")
                if [".mkv", "webm"].contains(recording.name.suffix(4)) {
                    // The ID of Matroska's index (Cues).
                    let cues = Data([0x1c, 0x53, 0xbb, 0x6b])
                    let bytes = try Data(contentsOf: URL(fileURLWithPath: whole))
                    // Near their beginning, both files state where the index would be.
                    for (data, hasIndex) in [(original, false), (bytes, true)] {
                        let last = data.range(of: cues, options: .backwards)?.lowerBound ?? 0
                        #expect((last > data.count / 2) == hasIndex)
                    }
                }
                #expect(try Data(contentsOf: URL(fileURLWithPath: killed)) == original)
                #expect(directory.contents.count == 2)
                try await expectDecodes(whole)
            }
        }

        /// Expects every frame and every audio block at its time. The last audio block may be
        /// missing, because no later block gives it a duration. Transport streams begin at any
        /// time, and MPEG-4 audio may begin before zero, so outside Matroska only the intervals
        /// count.
        private func expectSameTimes(_ after: Packets, _ before: Packets, in name: String) {
            let isExact = name.hasSuffix(".mkv") || name.hasSuffix(".webm")
            let precision = name.hasSuffix(".ts") ? 100 : 1000
            let zeros = [after, before].map { isExact ? 0 : $0.pictures.first?.times.first ?? 0 }
            #expect(after.streams.map(\.kind).sorted() == before.streams.map(\.kind).sorted())
            for (new, old) in zip(after.pictures, before.pictures) {
                #expect(new.times.count == old.times.count)
            }
            for (new, old) in zip(after.sound, before.sound) {
                #expect((old.times.count - 1...old.times.count).contains(new.times.count))
            }
            for (new, old) in zip(
                after.pictures + after.sound, before.pictures + before.sound)
            {
                // mp4mux gives the last block of some fragments no duration; the repair corrects
                // such a block.
                let mended = old.times.indices.map { $0 > 0 && old.times[$0] == old.times[$0 - 1] }
                let differences = zip(zip(new.times, old.times), mended).map { times, isMended in
                    isMended ? 0 : (times.0 - zeros[0]) - (times.1 - zeros[1])
                }
                #expect(differences.allSatisfy { abs($0) <= precision }, "\(differences)")
            }
        }

        private func expectDecodes(_ path: String) async throws {
            let result = try await Tool.run(
                "ffmpeg", ["-v", "error", "-i", path, "-f", "null", "-"])
            // In a truncated stream, the last frame or block may be truncated too.
            #expect(result.status == 0, "\(result.errors)")
        }

        @Test func repairReplacesTheRecordingByDefault() async throws {
            try await withTemporaryDirectory { directory in
                let path = try await KilledRecording.all[0].make(in: directory)
                try FileManager.default.setAttributes(
                    [.posixPermissions: 0o640], ofItemAtPath: path)
                let before = try await Packets(of: path)
                #expect(before.duration == nil)
                let ended = try await GstBridge.run(["repair", path])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(ended.errors.contains("video/x-h264"))
                let after = try await Packets(of: path)
                #expect(after.pictures == before.pictures && after.duration != nil)
                #expect(directory.contents == ["h264-opus.mkv"])
                let attributes = try FileManager.default.attributesOfItem(atPath: path)
                #expect(attributes[.posixPermissions] as? Int == 0o640)
            }
        }

        @Test func interruptedPlainMP4IsRefusedAndUnchanged() async throws {
            try await withTemporaryDirectory { directory in
                let recording = KilledRecording("plain.mp4", "mp4mux", "x264enc ! h264parse ! m.")
                let path = try await recording.make(in: directory)
                try await expectRefused(path, saying: "cannot be repaired", in: directory)
            }
        }

        @Test(
            arguments: [
                ("", "is empty"), ("a text", "is not a recording"),
                ("\u{0}\u{0}\u{0}\u{8}ftyp\u{0}\u{0}\u{0}\u{1}moov", "cannot be repaired"),
                ("\u{0}\u{0}\u{0}\u{8}ftyp\u{0}\u{0}\u{0}\u{8}moov", "no playable streams"),
                (String(repeating: "G", count: 1000), "No program activated"),
            ])
        func fileThatIsNoRecordingIsRefusedAndUnchanged(content: String, words: String) async throws
        {
            try await withTemporaryDirectory { directory in
                let path = try directory.write(content, to: "a.mkv")
                try await expectRefused(path, saying: words, in: directory)
            }
        }

        @Test func repairReplacesOnlyTheRecording() async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("film.mkv")
                try await Clip().make(at: path)
                let other = try directory.write("dear to somebody", to: "other.mkv")
                let ended = try await GstBridge.run(["repair", path, other])
                #expect(ended.status == 1)
                #expect(ended.errors.contains("already exists"), "\(ended.errors)")
                #expect(try String(contentsOfFile: other, encoding: .utf8) == "dear to somebody")
            }
        }

        @Test func missingFileIsNamed() async throws {
            let ended = try await GstBridge.run(["repair", "/no/such/film.mkv"])
            #expect(ended.status == 1)
            #expect(ended.errors.contains("/no/such/film.mkv"), "\(ended.errors)")
        }

        /// A file truncated at any point is repaired as far as its data goes, or refused; it never
        /// gets worse.
        @Test(arguments: ["mkv", "mp4"])
        func fileTruncatedAnywhereIsRepairedOrUnchanged(kind: String) async throws {
            try await withTemporaryDirectory { directory in
                let recording = try #require(
                    KilledRecording.all.first { $0.name.hasSuffix(".\(kind)") })
                let killed = try await recording.make(in: directory)
                let bytes = try Data(contentsOf: URL(fileURLWithPath: killed))
                let path = directory.file("cut.\(kind)")
                var generator = SeededGenerator(seed: 7)
                var repaired = 0
                for _ in 0..<12 {
                    let cut = bytes.prefix(Int.random(in: 0..<bytes.count, using: &generator))
                    try cut.write(to: URL(fileURLWithPath: path))
                    let ended = try await GstBridge.run(["repair", path])
                    #expect(ended.status <= 1, "\(cut.count) bytes: \(ended.errors)")
                    if ended.status == 0 {
                        repaired += 1
                        #expect(try await Packets(of: path).duration != nil)
                    } else {
                        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == cut)
                    }
                }
                #expect(repaired > 2)
                #expect(directory.contents.count == 2)
            }
        }

        private func expectRefused(
            _ path: String, saying words: String, in directory: TemporaryDirectory
        ) async throws {
            let before = try Data(contentsOf: URL(fileURLWithPath: path))
            let ended = try await GstBridge.run(["repair", path])
            #expect(ended.status == 1)
            #expect(ended.errors.contains(words), "\(ended.errors)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
            #expect(directory.contents.count == 1)
        }
    }
}
