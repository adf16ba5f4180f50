import Foundation
import TestSupport
import Testing

extension CommandTests {
    /// Encoded media passes unchanged, including packets without a timestamp at the start of a
    /// stream.
    @Suite(.hangGuard) struct EncodedStreamTests {
        @Test(
            arguments: [
                ("audiotestsrc num-buffers=100 ! audioconvert ! vorbisenc", "vorbis"),
                ("audiotestsrc num-buffers=100 ! audioconvert ! opusenc", "opus"),
                ("audiotestsrc num-buffers=100 ! audioconvert ! flacenc", "flac"),
                ("videotestsrc num-buffers=30 ! theoraenc", "theora"),
                ("videotestsrc num-buffers=30 ! vp8enc deadline=1", "vp8"),
            ], ["matroskamux", "oggmux"])
        func encodedStreamPassesIntoAMuxer(capture: (String, String), muxer: String) async throws {
            try await withTemporaryDirectory { directory in
                let (bridged, direct) = (directory.file("bridged"), directory.file("direct"))
                let ended = try await GstBridge.run(
                    capture: capture.0, outputs: ["\(muxer) ! filesink location=\(bridged)"])
                #expect(ended.status == 0, "\(ended.errors)")
                try await Tool.check(
                    "gst-launch-1.0",
                    ["-q"]
                        + "\(capture.0) ! \(muxer) ! filesink location=\(direct)"
                        .split(separator: " ").map(String.init))
                let packets = try await Self.packets(of: bridged)
                #expect(packets.contains { $0.hasPrefix(capture.1) }, "\(packets)")
                #expect(try await packets == Self.packets(of: direct))
            }
        }

        @Test func oggAudioAndVideoPassTogether() async throws {
            try await withTemporaryDirectory { directory in
                let (film, out) = (directory.file("film.ogg"), directory.file("out.ogg"))
                try await Tool.check(
                    "gst-launch-1.0",
                    "-q audiotestsrc num-buffers=43 ! vorbisenc ! oggmux name=m ! filesink location=\(film) videotestsrc num-buffers=30 ! theoraenc ! m."
                        .split(separator: " ").map(String.init))
                let ended = try await GstBridge.run(
                    capture:
                        "filesrc location=\(film) ! oggdemux name=d d. ! queue ! vorbisparse ! "
                        + "appsink name=audio d. ! queue ! theoraparse ! appsink name=video",
                    outputs: [
                        "oggmux name=m ! filesink location=\(out) "
                            + "appsrc name=audio ! m. appsrc name=video ! m."
                    ])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(try await Self.packets(of: out) == Self.packets(of: film))
            }
        }

        /// A parser of an elementary stream knows when each frame is decoded, but not when it is
        /// presented.
        @Test func unitsWithOnlyADecodeTimestampPass() async throws {
            try await withTemporaryDirectory { directory in
                let stream = directory.file("stream.h264")
                let (bridged, direct) = (directory.file("bridged.ts"), directory.file("direct.ts"))
                let make =
                    "videotestsrc num-buffers=30 ! x264enc bframes=0 "
                    + "! video/x-h264,stream-format=byte-stream ! filesink location=\(stream)"
                let capture = "filesrc location=\(stream) ! h264parse"
                for text in [make, "\(capture) ! mpegtsmux ! filesink location=\(direct)"] {
                    try await Tool.check(
                        "gst-launch-1.0", ["-q"] + text.split(separator: " ").map(String.init))
                }
                let ended = try await GstBridge.run(
                    capture: capture, outputs: ["mpegtsmux ! filesink location=\(bridged)"])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(try ended.report.captures["video"]?.frames == 30)
                #expect(try ended.report.captures["video"]?.dropped == 0)
                #expect(try await Self.times(in: bridged) == Self.times(in: direct))
            }
        }

        /// Decoders derive missing frame times from the frame rate. A parser gives only the first
        /// frame a time.
        @Test(arguments: ["", " ! jpegparse"])
        func framesWithoutTimestampsReachTheDecoder(parser: String) async throws {
            try await withTemporaryDirectory { directory in
                let bridged = directory.file("bridged.mkv")
                let direct = directory.file("direct.mkv")
                let pictures = directory.file("%d.jpg")
                let capture =
                    "multifilesrc location=\(pictures) ! "
                    + "image/jpeg,width=64,height=48,framerate=25/1\(parser)"
                let output = "jpegdec ! videoconvert ! x264enc ! matroskamux ! filesink"
                for text in [
                    "videotestsrc num-buffers=20 ! video/x-raw,width=64,height=48 ! jpegenc ! "
                        + "multifilesink location=\(pictures)",
                    "\(capture) ! \(output) location=\(direct)",
                ] {
                    try await Tool.check(
                        "gst-launch-1.0", ["-q"] + text.split(separator: " ").map(String.init))
                }
                let ended = try await GstBridge.run(
                    capture: capture, outputs: ["\(output) location=\(bridged)"])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(try ended.report.capture.frames == 20)
                #expect(try ended.report.capture.dropped == 0)
                #expect(try await Self.times(in: bridged) == Self.times(in: direct))
            }
        }

        /// A decoder asks for sizes and frame rates on behalf of downstream elements. A stream from
        /// a depayloader does not state its own.
        @Test(
            arguments: [
                (
                    "x264enc tune=zerolatency ! rtph264pay ! rtph264depay",
                    "avdec_h264 ! videoconvert", 20...20
                ),
                // rtptheorapay of GStreamer 1.22 retains the last frames, in gst-launch-1.0 too.
                ("theoraenc ! rtptheorapay ! rtptheoradepay", "theoradec ! videoconvert", 12...20),
                ("avenc_mpeg4 ! mpeg4videoparse", "avdec_mpeg4 ! videoconvert", 20...20),
            ])
        func streamOfUnknownSizeIsDecoded(
            capture: String, output: String, frames: ClosedRange<Int>
        ) async throws {
            let ended = try await GstBridge.run(
                capture: "videotestsrc num-buffers=20 ! "
                    + "video/x-raw,format=I420,width=64,height=48 ! \(capture)",
                outputs: [
                    "\(output) ! video/x-raw,format=BGRx,pixel-aspect-ratio=1/1 ! fakesink"
                ])
            #expect(ended.status == 0, "\(ended.errors)")
            #expect(frames.contains(try ended.report.only.frames))
        }

        /// Only the first part of a frame has a timestamp.
        @Test func continuationBuffersPassWithoutATimestamp() async throws {
            try await withTemporaryDirectory { directory in
                let (bridged, direct) = (directory.file("bridged"), directory.file("direct"))
                let capture =
                    "videotestsrc num-buffers=3 ! video/x-raw,width=64,height=64 ! "
                    + "openjpegenc num-stripes=4"
                try await Tool.check(
                    "gst-launch-1.0",
                    ["-q"]
                        + "\(capture) ! filesink location=\(direct)".split(separator: " ")
                        .map(String.init))
                let ended = try await GstBridge.run(
                    capture: capture, outputs: ["filesink location=\(bridged)"])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(try ended.report.capture.dropped == 0)
                let (a, b) = (try directory.data("bridged"), try directory.data("direct"))
                #expect(!b.isEmpty && a == b, "\(a.count) bytes, \(b.count) of gst-launch-1.0")
            }
        }

        /// The presentation and decoding times of each packet.
        private static func times(in path: String) async throws -> String {
            try await Tool.check(
                "ffprobe",
                [
                    "-v", "error", "-show_entries", "packet=pts_time,dts_time", "-of", "csv=p=0",
                    path,
                ])
        }

        /// The codec and the number of packets of each stream, in no order.
        private static func packets(of path: String) async throws -> [String] {
            try await Tool.check(
                "ffprobe",
                [
                    "-v", "error", "-count_packets", "-show_entries",
                    "stream=codec_name,nb_read_packets", "-of", "csv=p=0", path,
                ]
            ).split(separator: "\n").map(String.init).sorted()
        }
    }
}
