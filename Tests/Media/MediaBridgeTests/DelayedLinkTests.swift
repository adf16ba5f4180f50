import MediaBridge
import TestSupport
import Testing

/// Several delayed links of one element, one of them to the program. The program gets the stream of
/// its kind, whatever the order of the pads and of the links.
@Suite(.hangGuard)
struct DelayedLinkTests {
    struct Case: CustomTestStringConvertible {
        /// Whether the file's audio stream comes first.
        let isAudioFirst: Bool
        let isProgramFirst: Bool
        let other: String
        let own: String

        var testDescription: String {
            "\(isAudioFirst ? "audio" : "video") first: \(capture("FILE"))"
        }

        func capture(_ file: String) -> String {
            let links =
                isProgramFirst
                ? ["d. ! \(own)", "d. ! \(other)"] : ["d. ! \(other)", "d. ! \(own)"]
            return "filesrc location=\(file) ! decodebin name=d \(links.joined(separator: " "))"
        }

        static func all(_ media: String, converter: String) -> [Case] {
            var cases: [Case] = []
            for other in ["fakesink", "queue ! fakesink", "autoaudiosink", "queue ! autoaudiosink"]
            where media == "video" || other.contains("fakesink") {
                for own in [
                    "appsink name=\(media)", "queue ! appsink name=\(media)",
                    "\(media)/x-raw ! appsink",
                    "queue ! \(media)/x-raw ! appsink", "\(converter) ! appsink",
                ] {
                    for bits in 0..<4 {
                        cases.append(
                            Case(
                                isAudioFirst: bits & 1 != 0, isProgramFirst: bits & 2 != 0,
                                other: other, own: own))
                    }
                }
            }
            return cases
        }
    }

    /// Makes a file of 12 frames and as much audio.
    private func film(_ directory: TemporaryDirectory, isAudioFirst: Bool) async throws -> String {
        let path = directory.file("film.mkv")
        let video =
            "videotestsrc num-buffers=12 ! video/x-raw,width=64,height=48,framerate=30/1 ! x264enc ! h264parse ! queue ! m."
        let audio =
            "audiotestsrc num-buffers=12 samplesperbuffer=1600 ! audio/x-raw,rate=48000 ! opusenc ! queue ! m."
        let streams = isAudioFirst ? [audio, video] : [video, audio]
        try await Tool.check(
            "gst-launch-1.0",
            "-q matroskamux name=m ! filesink location=\(path) \(streams.joined(separator: " "))"
                .split(separator: " ").map(String.init))
        return path
    }

    @Test(arguments: Case.all("video", converter: "videoconvert"))
    func programReceivesTheVideo(_ test: Case) async throws {
        try await withTemporaryDirectory { directory in
            let film = try await film(directory, isAudioFirst: test.isAudioFirst)
            let source = try PipelineVideoSource(test.capture(film))
            var count = 0
            for try await _ in source.frames() { count += 1 }
            #expect(count == 12)
        }
    }

    @Test(arguments: Case.all("audio", converter: "audioconvert"))
    func programReceivesTheAudio(_ test: Case) async throws {
        try await withTemporaryDirectory { directory in
            let film = try await film(directory, isAudioFirst: test.isAudioFirst)
            let source = try PipelineAudioSource(test.capture(film))
            var count = 0
            for try await frame in source.frames() { count += frame.sampleCount }
            #expect(count > 0)
        }
    }

    @Test(arguments: ["fakesink async=false", "queue ! fakesink async=false"])
    func programReceivesTheVideoOfRTP(other: String) async throws {
        let source = try PipelineVideoSource(
            "rtpbin name=r videotestsrc num-buffers=12 ! video/x-raw,width=64,height=48 ! "
                + "x264enc tune=zerolatency ! rtph264pay pt=96 ! r.recv_rtp_sink_0 "
                + "audiotestsrc num-buffers=20 ! opusenc ! rtpopuspay pt=97 ! r.recv_rtp_sink_1 "
                + "r. ! \(other) r. ! rtph264depay ! avdec_h264 ! appsink")
        var count = 0
        for try await _ in source.frames() { count += 1 }
        #expect(count == 12)
    }

    @Test func unnamedLinksOfTwoVideoStreamsKeepTheirOrder() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("two.mkv")
            try await Tool.check(
                "gst-launch-1.0",
                "-q matroskamux name=m ! filesink location=\(path) videotestsrc num-buffers=4 ! video/x-raw,width=64,height=48 ! x264enc ! h264parse ! queue ! m. videotestsrc num-buffers=4 ! video/x-raw,width=32,height=48 ! x264enc ! h264parse ! queue ! m."
                    .split(separator: " ").map(String.init))
            let source = try PipelineVideoSource(
                "filesrc location=\(path) ! matroskademux name=d d. ! queue ! avdec_h264 ! "
                    + "videoscale ! fakesink d. ! queue ! avdec_h264 ! videoconvert ! appsink")
            var widths: Set<Int> = []
            for try await frame in source.frames() { widths.insert(frame.width) }
            #expect(widths == [32])
        }
    }
}
