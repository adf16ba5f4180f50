import Foundation
import TestSupport
import Testing

extension CommandTests {
    /// A live capture may deliver data in bursts, or long before the stream that its muxer waits
    /// for. None of that data is evicted.
    @Suite(.hangGuard) struct LiveStreamTests {
        /// At EOS the encoder outputs all frames of its look-ahead at once.
        @Test(arguments: [
            ("mpegtsmux", ""), ("", "mpegtsmux ! "), ("", "h264parse ! matroskamux ! "),
        ])
        func burstOfEncodedUnitsIsWrittenCompletely(inside: String, behind: String) async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("film")
                let muxer = inside.isEmpty ? "" : " ! \(inside)"
                let ended = try await GstBridge.run(
                    capture: "videotestsrc is-live=true num-buffers=60 ! "
                        + "video/x-raw,width=64,height=48,framerate=60/1 ! x264enc\(muxer)",
                    outputs: ["\(behind)filesink location=\(path)"])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(try ended.report.capture.dropped == 0)
                #expect(try ended.report.only.dropped == 0)
                #expect(try await Self.packets(of: path) == ["video": 60])
            }
        }

        /// An encoder with look-ahead outputs its first frame only after more than a second of
        /// audio has queued up.
        @Test(arguments: ["audioconvert", "audioconvert ! opusenc"])
        func audioWaitsForLaterVideo(encoder: String) async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("film.mkv")
                let ended = try await GstBridge.run(
                    capture: "videotestsrc is-live=true num-buffers=60 ! "
                        + "video/x-raw,width=64,height=48,framerate=30/1 ! appsink name=video "
                        + "audiotestsrc is-live=true num-buffers=200 samplesperbuffer=480 ! "
                        + "audio/x-raw,rate=48000 ! \(encoder) ! appsink name=audio",
                    outputs: [
                        "appsrc name=video ! x264enc ! m. appsrc name=audio ! m. "
                            + "matroskamux name=m ! filesink location=\(path)"
                    ])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(try ended.report.only.dropped == 0)
                // If the machine stalls for longer than four frames, the capture drops some.
                let pictures = try #require(ended.report.captures["video"])
                let packets = try await Self.packets(of: path)
                #expect(packets["video"] == 60 - pictures.dropped)
                // Opus packets last 20 ms, the raw buffers 10 ms.
                #expect(try #require(packets["audio"]) >= 100)
            }
        }

        @Test func reportsThatACaptureResumed() async throws {
            let ended = try await GstBridge.run(
                capture: "videotestsrc is-live=true num-buffers=10 ! "
                    + "video/x-raw,width=64,height=48,framerate=60/1",
                outputs: ["fakesink"], ["--restart", "--frames", "15"])
            #expect(ended.status == 0, "\(ended.errors)")
            #expect(
                ended.errors.components(separatedBy: "the capture \"video\" is back").count == 2,
                "\(ended.errors)")
            let counts = try ended.report.capture
            #expect(counts.outages == 1 && counts.restarts == 1)
            #expect(try #require(counts.outageSeconds) > 0)
        }

        /// The number of packets of each kind of stream.
        private static func packets(of path: String) async throws -> [String: Int] {
            let lines = try await Tool.check(
                "ffprobe",
                [
                    "-v", "error", "-count_packets", "-show_entries",
                    "stream=codec_type,nb_read_packets", "-of", "csv=p=0", path,
                ]
            ).split(separator: "\n")
            // ffprobe lists the streams of an MPEG-TS program a second time.
            return Dictionary(
                lines.compactMap { line in
                    let values = line.split(separator: ",")
                    return values.count == 2 ? (String(values[0]), Int(values[1]) ?? 0) : nil
                }, uniquingKeysWith: { first, _ in first })
        }
    }
}
