import Foundation
import TestSupport
import Testing

extension CommandTests {
    /// Raw audio in which some buffers mid-stream have no timestamp, as elements that split blocks
    /// leave it.
    @Suite(.hangGuard) struct UntimedSoundTests {
        /// Half a second of audio in blocks of 0.1 s. The last two blocks have no timestamp, and
        /// the last three no duration: chopmydata draws a size that no block reaches, so it splits
        /// the last block only at the end of the stream, and only the first piece keeps the
        /// timestamp.
        private static func capture(_ format: String, stride: Int) -> String {
            let caps = "audio/x-raw,format=\(format),rate=48000,channels=1"
            return "concat name=all "
                + "audiotestsrc num-buffers=2 samplesperbuffer=4800 ! \(caps) ! all. "
                + "audiotestsrc num-buffers=1 samplesperbuffer=14400 ! \(caps) "
                + "! chopmydata min-size=\(4800 * stride) max-size=2000000000 ! all."
        }

        @Test(arguments: [("S16LE", 2), ("S24LE", 3), ("S18LE", 3), ("F64LE", 8)])
        func untimedAudioFollowsThePreviousSample(format: String, stride: Int) async throws {
            let ended = try await GstBridge.run(
                capture: Self.capture(format, stride: stride),
                outputs: ["fakesink silent=false"], ["-v"])
            #expect(ended.status == 0, "\(ended.errors)")
            #expect(try ended.report.captures["audio"]?.frames == 5)
            #expect(try ended.report.captures["audio"]?.dropped == 0)
            let times = ended.errors.matches(of: /chain .* pts: ([0-9:.]+),/).map { $0.1 }
            #expect(
                times == [
                    "0:00:00.000000000", "0:00:00.100000000", "0:00:00.200000000",
                    "0:00:00.300000000", "0:00:00.400000000",
                ], "\(ended.errors)")
        }

        @Test func isRecorded() async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("out.mkv")
                let ended = try await GstBridge.run([
                    "record", "--capture",
                    Self.capture("S16LE", stride: 2) + " all. ! appsink name=audio",
                    "--audio", "flac", path,
                ])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(try await MediaProbe.audioSamples(of: path) == 24_000)
            }
        }

        /// The first sample has no predecessor whose time it could continue.
        @Test func audioWithoutAnyTimestampIsAnError() async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("sound.raw")
                try Data(count: 96_000).write(to: URL(filePath: path))
                let ended = try await GstBridge.run(
                    capture: "filesrc location=\(path) ! "
                        + "audio/x-raw,format=S16LE,rate=48000,channels=1,layout=interleaved",
                    outputs: ["fakesink"])
                #expect(ended.status == 1)
                #expect(ended.errors.contains("has no timestamps"), "\(ended.errors)")
            }
        }
    }
}
