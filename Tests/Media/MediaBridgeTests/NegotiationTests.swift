import Foundation
import MediaBridge
import TestSupport
import Testing

/// A string that is cut in two negotiates the same formats as the whole string.
@Suite(.hangGuard) struct NegotiationTests {
    struct Cut: CustomTestStringConvertible {
        let capture: String
        let output: String
        init(_ capture: String, _ output: String) {
            (self.capture, self.output) = (capture, output)
        }
        var testDescription: String { "\(capture) | \(output)" }
    }

    private static let pictures = "videotestsrc num-buffers=5"
    private static let sound = "audiotestsrc num-buffers=20"

    @Test(arguments: [
        Cut(pictures, "theoraenc ! oggmux"), Cut("\(pictures) ! queue", "theoraenc ! oggmux"),
        Cut("\(pictures) ! video/x-raw,width=160,height=120", "theoraenc ! oggmux"),
        Cut(pictures, "queue ! theoraenc ! oggmux"), Cut(pictures, "jpegenc ! avimux"),
        Cut("\(pictures) ! videoconvert", "x264enc ! matroskamux"),
        Cut(pictures, "videoconvert ! x264enc ! matroskamux"), Cut(pictures, "qtmux"),
        Cut(pictures, "avimux"), Cut(pictures, "timeoverlay ! theoraenc ! oggmux"),
        Cut("\(pictures) ! x264enc ! h264parse", "mp4mux"), Cut(sound, "vorbisenc ! oggmux"),
        Cut(sound, "wavenc"), Cut("\(sound) ! audioconvert", "flacenc"), Cut(sound, "qtmux"),
        Cut(sound, "audioresample ! audio/x-raw,rate=8000 ! alawenc ! wavenc"),
    ]) func negotiatedFormatMatchesLinkedElements(cut: Cut) async throws {
        try await withTemporaryDirectory { directory in
            let (whole, parts) = (directory.file("whole"), directory.file("parts"))
            try await Tool.check(
                "gst-launch-1.0",
                ["-q"]
                    + "\(cut.capture) ! \(cut.output) ! filesink location=\(whole)".split(
                        separator: " "
                    ).map(String.init))
            let plan = BridgePlan(
                capture: cut.capture, outputs: ["\(cut.output) ! filesink location=\(parts)"])
            try await Bridge(plan).run().get()
            #expect(try await Self.streams(of: parts) == Self.streams(of: whole))
        }
    }

    private static let branches = [
        "x264enc ! matroskamux", "queue ! videoconvert ! x264enc ! mp4mux", "theoraenc ! oggmux",
    ]

    @Test(arguments: [pictures, "\(pictures) ! video/x-raw,width=160,height=120"])
    func outputsNegotiateAsBehindATee(capture: String) async throws {
        for first in Self.branches {
            for second in Self.branches where second != first {
                try await expectTheFormatsOfATee(of: capture, into: [first, second])
            }
        }
    }

    private func expectTheFormatsOfATee(of capture: String, into branches: [String]) async throws {
        try await withTemporaryDirectory { directory in
            let numbered = branches.enumerated().map {
                "\($1) ! filesink location=\(directory.path)/\($0)"
            }
            let whole = numbered.map { "t. ! queue ! \($0).whole" }.joined(separator: " ")
            try await Tool.check(
                "gst-launch-1.0",
                ["-q"] + "\(capture) ! tee name=t \(whole)".split(separator: " ").map(String.init))
            let plan = BridgePlan(capture: capture, outputs: numbered.map { "\($0).parts" })
            try await Bridge(plan).run().get()
            for number in branches.indices {
                let parts = try await Self.streams(of: "\(directory.path)/\(number).parts")
                let whole = try await Self.streams(of: "\(directory.path)/\(number).whole")
                #expect(parts == whole, "\(branches[number]) of \(branches)")
            }
        }
    }

    private static func streams(of path: String) async throws -> String {
        try await Tool.check(
            "ffprobe",
            [
                "-v", "error", "-count_packets", "-show_entries",
                "stream=codec_name,pix_fmt,width,height,sample_fmt,sample_rate,channels,nb_read_packets",
                "-of", "compact", path,
            ])
    }

    @Test(arguments: ["mp4mux", "matroskamux", "avimux", "flvmux", "mpegtsmux"])
    func outputMayBeginWithAMuxer(muxer: String) async throws {
        let pictures = "\(Self.pictures) ! x264enc tune=zerolatency"
        let sound = "\(Self.sound) ! audioconvert ! avenc_aac"
        try await withTemporaryDirectory { directory in
            for (capture, output, kinds) in [
                (pictures, "\(muxer) ! filesink location=", ["video"]),
                (sound, "\(muxer) ! filesink location=", ["audio"]),
                (
                    "\(pictures) ! appsink name=video \(sound) ! appsink name=audio",
                    "appsrc name=video ! \(muxer) name=m appsrc name=audio ! m. m. ! filesink location=",
                    ["audio", "video"]
                ),
                (
                    "\(pictures) \(sound)",
                    "queue ! \(muxer) name=m ! filesink location=",
                    ["video"]
                ),
            ] {
                let path = directory.file("file-\(kinds.count)")
                let bridge = try Bridge(BridgePlan(capture: capture, outputs: [output + path]))
                try await bridge.run().get()
                let words = try await Tool.check(
                    "ffprobe",
                    ["-v", "quiet", "-show_entries", "stream=codec_type", "-of", "csv=p=0", path])
                #expect(
                    Set(words.split(whereSeparator: \.isWhitespace).map(String.init)) == Set(kinds),
                    "\(capture) | \(output)")
            }
        }
    }

    /// `autovideoconvert` answers ANY, but refuses what its converters do not accept.
    @Test(arguments: ["", " ! video/x-raw,width=320,height=240,framerate=10/1"])
    func autovideoconvertReceivesASupportedFormat(caps: String) async throws {
        let report = try await Bridge.run(
            capture: Self.pictures + caps, outputs: ["autovideoconvert ! x264enc ! fakesink"])
        #expect(report.outputs["output"]?.frames == 5)
    }

    @Test func audioVisualiserLosesNoFrame() async throws {
        let plan = BridgePlan(
            capture: "audiotestsrc num-buffers=90 ! audioconvert ! wavescope", outputs: ["fakesink"]
        )
        let report = try await Bridge(plan).run().get()
        #expect(report.captures["video"]?.dropped.total == 0)
        #expect((report.captures["video"]?.frames ?? 0) > 0)
    }

    @Test func outputTakesTheDemuxerStreamOfItsKind() async throws {
        try await withTemporaryDirectory { directory in
            var clip = Clip()
            clip.frames = 25
            let path = try await clip.make(at: directory.file("clip.mkv"))
            let decoder = "uridecodebin uri=file://\(path)"
            let heard = try await Bridge(
                BridgePlan(capture: decoder, outputs: ["audioconvert ! fakesink"])
            ).run().get()
            #expect(heard.captures.keys.sorted() == ["audio"])
            let seen = try await Bridge(
                BridgePlan(capture: decoder, outputs: ["videoscale ! fakesink"])
            ).run().get()
            #expect(seen.captures["video"]?.frames == 25)
            let both = try await Bridge(
                BridgePlan(
                    capture: "\(decoder) name=d d. ! queue ! appsink name=audio "
                        + "d. ! queue ! appsink name=video",
                    outputs: [
                        "appsrc name=audio ! audioconvert ! fakesink appsrc name=video ! videoconvert ! "
                            + "fakesink"
                    ])
            ).run().get()
            #expect(both.captures["video"]?.frames == 25)
            #expect((both.captures["audio"]?.frames ?? 0) > 0)
        }
    }

    @Test func defaultEndNamesMeanTheOnlyStream() async throws {
        for (capture, output) in [
            ("appsink name=sink", "appsrc name=src ! fakesink"), ("appsink name=sink", "fakesink"),
            ("appsink", "appsrc name=src ! fakesink"),
        ] {
            let plan = BridgePlan(capture: "\(Self.pictures) ! \(capture)", outputs: [output])
            let report = try await Bridge(plan).run().get()
            #expect(report.outputs["output"]?.frames == 5)
        }
    }
}
