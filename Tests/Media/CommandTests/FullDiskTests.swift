import Foundation
import TestSupport
import Testing

extension CommandTests {
    /// `gst-bridge record` when a write fails in the middle of a file.
    @Suite(.hangGuard) struct FullDiskTests {
        private struct Recorded: Decodable {
            struct File: Decodable { var frames: Int }
            struct Output: Decodable { var frames: Int }
            var files: [File]
            var outputs: [String: Output]
        }

        /// The limit of a file's size fails a write as a full disk does.
        @Test(.disabled(if: Sanitizer.isOfThreads), arguments: ["mkv", "mp4", "webm", "ts"])
        func fullDiskIsReportedAndStartsNoNewFile(ending: String) async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("out.\(ending)")
                let result = try await Tool.run(
                    "sh",
                    [
                        "-c", "ulimit -f 1000; exec \"$0\" \"$@\"", Tool.gstBridge, "record",
                        "--capture",
                        "videotestsrc num-buffers=150 pattern=snow "
                            + "! video/x-raw,width=320,height=240,framerate=30/1 "
                            + "! appsink name=video audiotestsrc num-buffers=240 "
                            + "! audio/x-raw,rate=48000,channels=1 ! appsink name=audio",
                        "--bitrate", "6M", "--reserve", "0", "--report", "json", path,
                    ])
                #expect(result.status == 1 && result.errors.contains(path), "\(result.errors)")
                #expect(directory.contents == ["out.\(ending)"])
                let line = try #require(result.output.split(separator: "\n").last)
                let report = try JSONDecoder().decode(Recorded.self, from: Data(line.utf8))
                #expect(report.files.count == 1)
                let frames = try #require(report.files.first?.frames)
                // ffprobe also counts a last frame of which only a part was written.
                let probe = try await Tool.run(
                    "ffprobe",
                    [
                        "-v", "quiet", "-count_packets", "-select_streams", "v:0",
                        "-show_entries", "stream=nb_read_packets", "-of", "csv=p=0", path,
                    ])
                let counts = probe.output.split(whereSeparator: \.isNewline).compactMap { Int($0) }
                let found = try #require(counts.first)
                #expect((found - 1...found).contains(frames) && frames > 5)
                #expect(report.outputs["recording"]?.frames == frames)
            }
        }
    }
}
