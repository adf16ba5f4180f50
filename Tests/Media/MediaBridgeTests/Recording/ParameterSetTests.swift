import Foundation
import MediaBridge
import TestSupport
import Testing

/// Streams whose parameter sets change without a change of the pictures.
@Suite("Changing parameter sets", .hangGuard) struct ParameterSetTests {
    enum Codec: String, CaseIterable, CustomTestStringConvertible {
        case h264, h265
        var testDescription: String { rawValue }

        /// Four groups of 25 pictures. Every second one has a sequence parameter set with another, equivalent
        /// description of the video signal.
        func film() async throws -> String {
            try await SharedMedia.file("alternating.\(rawValue)") { path in
                let (encoder, filter) =
                    self == .h264
                    ? (["libx264", "-preset", "ultrafast"], "h264_metadata")
                    : (["libx265", "-x265-params", "bframes=0:log-level=none"], "hevc_metadata")
                let group = ["-f", rawValue == "h265" ? "hevc" : "h264"]
                try await Tool.check(
                    "ffmpeg",
                    ["-v", "error", "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=1", "-c:v"]
                        + encoder + ["-bf", "0", "-g", "25"] + group + ["\(path).a"])
                try await Tool.check(
                    "ffmpeg",
                    ["-v", "error", "-i", "\(path).a", "-c", "copy", "-bsf:v"]
                        + ["\(filter)=video_full_range_flag=0:video_format=5"] + group
                        + ["\(path).b"])
                try await Tool.check(
                    "sh", ["-c", "cat \(path).a \(path).b \(path).a \(path).b > \(path)"])
            }
        }
    }

    @Test(arguments: Codec.allCases, ["mkv", "mp4", "ts"])
    func recordsEquivalentParameterSetsOverRTPIntoOneFile(
        codec: Codec, container: String
    ) async throws {
        try await withTemporaryDirectory { directory in
            let parser = "\(codec)parse"
            var plan = BridgePlan(
                capture: "filesrc location=\(try await codec.film()) ! \(parser) "
                    + "! rtp\(codec)pay ! rtp\(codec)depay ! queue ! \(parser)")
            let path = directory.file("out.\(container)")
            plan.recordings = [BridgePlan.Recording(path: path)]
            try await Bridge(plan).run().get()
            #expect(directory.contents == ["out.\(container)"])
            #expect(try await MediaProbe(of: path).video?.frames == 100)
        }
    }

    @Test func recordsRandomChangesOfParameterSetsIntoOneFile() async throws {
        let environment = ProcessInfo.processInfo.environment
        let seed = environment["SEED"].flatMap { UInt64($0) } ?? 1
        var random = SeededGenerator(seed: seed)
        for number in 0..<(environment["COPIED"].flatMap { Int($0) } ?? 4) {
            let codec = Codec.allCases.randomElement(using: &random) ?? .h264
            let container = ["mkv", "mp4", "ts"].randomElement(using: &random) ?? "mkv"
            let film = try await codec.film()
            let groups = (0..<Int.random(in: 2...8, using: &random)).map { _ in
                film + (Bool.random(using: &random) ? ".a" : ".b")
            }
            let title = Comment(rawValue: "seed \(seed), case \(number): \(codec), \(container)")
            try await withTemporaryDirectory { directory in
                let (input, path) = (directory.file("film"), directory.file("out.\(container)"))
                try await Tool.check(
                    "sh", ["-c", "cat \(groups.joined(separator: " ")) > \(input)"])
                let queue = Bool.random(using: &random) ? "queue ! " : ""
                var plan = BridgePlan(
                    capture: "filesrc location=\(input) ! \(codec)parse ! rtp\(codec)pay "
                        + "! rtp\(codec)depay ! \(queue)\(codec)parse")
                plan.recordings = [BridgePlan.Recording(path: path)]
                try await Bridge(plan).run().get()
                #expect(directory.contents == ["film", "out.\(container)"], title)
                #expect(try await MediaProbe(of: path).video?.frames == 25 * groups.count, title)
            }
        }
    }

    @Test func recordsParameterSetsThatOnlyTheSessionDescriptionHas() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            // An avc stream has its parameter sets in the caps, and the payloader sends none.
            var plan = BridgePlan(
                capture: "filesrc location=\(try await Codec.h264.film()).a ! h264parse "
                    + "! video/x-h264,stream-format=avc ! rtph264pay config-interval=0 "
                    + "! rtph264depay ! h264parse")
            plan.recordings = [BridgePlan.Recording(path: path)]
            try await Bridge(plan).run().get()
            #expect(try await MediaProbe(of: path).video?.frames == 25)
        }
    }
}
