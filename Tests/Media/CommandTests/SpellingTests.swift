import TestSupport
import Testing

extension CommandTests {
    /// Misspellings are reported with a suggestion, in one readable paragraph.
    @Suite(.hangGuard) struct SpellingTests {
        @Test(
            arguments: [
                .capture("videotestsrc ! vidoeconvert", "Try: videoconvert."),
                .capture("videotestscr", "Try: videotestsrc."),
                .capture("videotestsrc patern=1", "pattern"),
                .capture(
                    "videotestsrc pattern=smtpe", "pattern=smpte", "snow, black", "zone-plate"),
                .capture("videotestsrc is-live=maybe", "true or false"),
                .capture("videotestsrc num-buffers=many", "whole numbers from -1"),
                .capture("videotestsrc num-buffers=5 videoconvert", "num-buffers=5 ! videoconvert"),
                .capture("filesrc location=a decodebin", "filesrc location=a ! decodebin"),
                .capture("identity", "nothing is linked to the input of \"identity0\""),
                .output("videoconvert fakesink", "videoconvert ! fakesink"),
                .output("queue ! fakesink fakesink", "fakesink ! fakesink"),
                .capture(
                    "videotestsrc ! muxx.sink_0 videotestsrc ! matroskamux name=mux",
                    "no element has the name \"muxx\"", "Try: mux."),
                .capture("videotestsrc ! muxx.", "no element has the name \"muxx\""),
                .capture("vaapih264enc", "gstreamer1.0-vaapi", "VA-API"),
                .capture("libcamerasrc", "gstreamer1.0-libcamera"),
                .capture("nvh264enc", "nvcodec", "Nvidia"),
                .capture("v4l2slh264dec", "v4l2codecs"),
            ] as [BadInput])
        func misspelledNameGetsASuggestion(input: BadInput) async throws {
            let ended = try await GstBridge.run(input.arguments)
            #expect(ended.status == 1, "\(ended.errors)")
            for word in input.words { #expect(ended.errors.contains(word), "\(ended.errors)") }
            #expect(!ended.errors.contains("(null)"), "\(ended.errors)")
            expectOneParagraph(ended)
        }

        @Test(
            arguments: [
                "videotestsrc ! textoverlay text=a ! identity", "( videotestsrc ! identity )",
                "videotestsrc ! tee name=t t. ! queue ! fakesink t. ! queue",
            ])
        func optionalPadNeedsNoLink(capture: String) async throws {
            let ended = try await GstBridge.run(
                capture: capture, outputs: ["fakesink"], ["--frames", "3"])
            #expect(ended.status == 0, "\(ended.errors)")
        }

        @Test(
            arguments: [
                BadInput.output("x264enc ! video/x-h264,profile=nonesuch ! fakesink"),
                .output("filesink location=/no/such/directory/out"),
                .capture("videotestsrc ! video/x-raw,format=I420 ! alawenc"),
                .capture("filesrc location=/no/such/film ! decodebin"),
            ])
        func errorIsShortAndNamesItsElementOnce(input: BadInput) async throws {
            let ended = try await GstBridge.run(input.arguments)
            #expect(ended.status == 1)
            let complaint = try #require(
                ended.errors.split(separator: "\n").first { $0.hasPrefix("gst-bridge: ") })
            #expect(complaint.split(separator: "/GstPipeline:").count <= 2, "\(complaint)")
            #expect(complaint.utf8.count < 1000, "\(complaint)")
            #expect(!complaint.contains("(string)"), "\(complaint)")
        }
    }
}
