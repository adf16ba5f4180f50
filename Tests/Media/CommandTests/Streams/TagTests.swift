import Foundation
import TestSupport
import Testing

extension CommandTests {
    /// The tags of a stream cross the bridge to its outputs.
    @Suite(.hangGuard) struct TagTests {
        private static let tags =
            "taginject tags=\"title=Morning,artist=Us,image-orientation=rotate-90\""
        private static let pictures =
            "videotestsrc num-buffers=10 ! video/x-raw,width=64,height=48 ! \(tags) ! appsink"

        @Test(arguments: ["x264enc ! matroskamux", "x264enc ! qtmux", "vp8enc ! webmmux"])
        func titleAndArtistReachTheFileOfAnOutput(writer: String) async throws {
            try await withTemporaryDirectory { directory in
                let (ours, theirs) = (directory.file("ours"), directory.file("theirs"))
                let ended = try await GstBridge.run(
                    capture: Self.pictures, outputs: ["\(writer) ! filesink location=\(ours)"])
                #expect(ended.status == 0, "\(ended.errors)")
                try await Tool.check(
                    "/bin/sh",
                    [
                        "-c",
                        "gst-launch-1.0 -q \(Self.pictures.replacing("appsink", with: writer))"
                            + " ! filesink location=\(theirs)",
                    ])
                let (found, expected) = (
                    try await reported(of: ours), try await reported(of: theirs)
                )
                #expect(found == expected)
                #expect(found.contains("Morning") && found.contains("Us"))
            }
        }

        @Test func orientationReachesTheFileOfAnOutput() async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("picture.jpg")
                let ended = try await GstBridge.run(
                    capture: Self.pictures.replacing("=10", with: "=1"),
                    outputs: ["jpegenc ! jifmux ! filesink location=\(path)"])
                #expect(ended.status == 0, "\(ended.errors)")
                let tags = try await Tool.check(
                    "gst-launch-1.0",
                    ["-t", "filesrc", "location=\(path)", "!", "jpegparse", "!", "fakesink"])
                #expect(tags.contains("rotate-90"), "\(tags)")
            }
        }

        @Test(arguments: ["mkv", "mp4", "webm"])
        func recordingKeepsTheTitleAndIsUpright(container: String) async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("film.\(container)")
                let ended = try await GstBridge.run([
                    "record", "--capture", Self.pictures, path,
                ])
                #expect(ended.status == 0, "\(ended.errors)")
                let found = try await reported(of: path)
                #expect(found.contains("Morning") && found.contains("Us"), "\(found)")
                let probe = try await MediaProbe(of: path)
                #expect(probe.video?.width == 48 && probe.video?.height == 64)
            }
        }

        /// The titles and artists of a file and of its streams.
        private func reported(of path: String) async throws -> Set<String> {
            let text = try await Tool.check(
                "ffprobe",
                [
                    "-v", "error", "-show_entries",
                    "format_tags=title,artist:stream_tags=title,artist",
                    "-of", "default=noprint_wrappers=1:nokey=1", path,
                ])
            return Set(text.split(separator: "\n").map(String.init))
        }
    }

    /// Stream headers are not counted as frames.
    @Suite(.hangGuard) struct HeaderTests {
        @Test(
            arguments: [
                ("videotestsrc num-buffers=30 ! theoraenc ! appsink", "oggmux ! fakesink", 30),
                ("videotestsrc num-buffers=30 ! appsink", "theoraenc ! oggmux ! fakesink", 30),
                ("videotestsrc num-buffers=30 ! theoraenc ! appsink", "theoradec ! fakesink", 30),
                ("videotestsrc num-buffers=30 ! theoraenc ! appsink", "fakesink", 30),
            ])
        func theoraFrameCountExcludesHeaders(
            capture: String, output: String, frames: Int
        ) async throws {
            let ended = try await GstBridge.run(capture: capture, outputs: [output])
            #expect(ended.status == 0, "\(ended.errors)")
            let report = try ended.report
            #expect(report.captures["video"]?.frames == frames)
            #expect(report.captures["video"]?.dropped == 0)
            #expect(report.outputs["output"]?.frames == frames)
            #expect(report.outputs["output"]?.dropped == 0)
        }

        @Test func vorbisPacketCountExcludesHeaders() async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("sound.ogg")
                let ended = try await GstBridge.run(
                    capture: "audiotestsrc num-buffers=50 ! vorbisenc ! appsink",
                    outputs: ["oggmux ! filesink location=\(path)"])
                let report = try ended.report
                let count = try await Tool.check(
                    "ffprobe",
                    [
                        "-v", "error", "-count_packets", "-show_entries", "stream=nb_read_packets",
                        "-of", "default=noprint_wrappers=1:nokey=1", path,
                    ])
                let packets = Int(count.trimmingCharacters(in: .whitespacesAndNewlines))
                #expect(report.captures["audio"]?.frames == packets)
                #expect(report.outputs["output"]?.frames == packets)
            }
        }
    }
}
