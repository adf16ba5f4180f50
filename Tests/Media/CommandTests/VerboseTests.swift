import TestSupport
import Testing

extension CommandTests {
    /// Additional output: `-v` and `-t` as in gst-launch-1.0, warnings, and reports of stalled
    /// elements.
    @Suite(.hangGuard) struct VerboseTests {
        @Test(arguments: ["-v", "--verbose"])
        func printedCapsMatchThoseOfGstLaunch(option: String) async throws {
            let capture =
                "videotestsrc num-buffers=3 ! video/x-raw,format=I420,width=64,height=48,"
                + "framerate=30/1 ! videoconvert ! video/x-raw,format=RGB"
            let whole = try await Tool.run(
                "gst-launch-1.0",
                ["-v"] + "\(capture) ! fakesink".split(separator: " ").map(String.init))
            let ended = try await GstBridge.run(
                capture: capture, outputs: ["fakesink name=far"], [option])
            #expect(ended.status == 0, "\(ended.errors)")
            let expected = Self.caps(in: whole.output).filter { !$0.contains("GstFakeSink") }
            let ours = Self.caps(in: ended.errors)
            #expect(expected.count == 7, "\(whole.output)")
            #expect(expected.isSubset(of: ours), "\(expected.subtracting(ours)): \(ended.errors)")
            // The caps of the open ends and of the output are printed too.
            for pad in [
                "GstAppSink:video.GstPad:sink", "GstAppSrc:video.GstPad:src",
                "GstFakeSink:far.GstPad:sink",
            ] {
                #expect(ours.contains { $0.hasPrefix("/\(pad): caps = video/x-raw") }, "\(pad)")
            }
            #expect(ended.output.split(separator: "\n").count == 1)
            #expect(try ended.report.only.frames == 3)
        }

        /// The lines about caps, without the pipeline's number.
        private static func caps(in text: String) -> Set<String> {
            Set(
                text.split(separator: "\n").compactMap { line in
                    guard line.hasPrefix("/GstPipeline:"), line.contains(": caps = ") else {
                        return nil
                    }
                    return line.dropFirst().firstIndex(of: "/").map { String(line[$0...]) }
                })
        }

        @Test func verboseOutputIsOffByDefault() async throws {
            let ended = try await GstBridge.run(
                capture: "videotestsrc num-buffers=3 ! taginject tags=title=hallo",
                outputs: ["fakesink"])
            #expect(ended.errors.isEmpty, "\(ended.errors)")
        }

        @Test func elementMessagesArePrinted() async throws {
            let ended = try await GstBridge.run(
                capture: "videotestsrc num-buffers=3", outputs: ["fakesink silent=false"], ["-v"])
            #expect(ended.errors.contains(": last-message = chain "), "\(ended.errors)")
        }

        @Test(arguments: ["-t", "--tags"])
        func printedTagsMatchThoseOfGstLaunch(option: String) async throws {
            let capture = "videotestsrc num-buffers=3 ! taginject tags=title=hallo,artist=welt"
            let whole = try await Tool.run(
                "gst-launch-1.0",
                ["-t"] + "\(capture) ! fakesink".split(separator: " ").map(String.init))
            let ended = try await GstBridge.run(capture: capture, outputs: ["fakesink"], [option])
            #expect(ended.status == 0)
            let tags = whole.output.split(separator: "\n").filter {
                $0.hasPrefix("           ") && $0.contains(": ")
            }
            #expect(tags.contains("           title: hallo"), "\(whole.output)")
            for tag in tags { #expect(ended.errors.contains(tag), "\(tag): \(ended.errors)") }
            #expect(ended.errors.contains("FOUND TAG      : found by element \"video\"."))
        }

        @Test func warningNamesItsElementAndDoesNotEndTheRun() async throws {
            try await withTemporaryDirectory { directory in
                let file = try directory.write("hallo", to: "text")
                let ended = try await GstBridge.run(
                    capture: "videotestsrc num-buffers=3 ! o. filesrc location=\(file) ! "
                        + "text/x-raw,format=utf8 ! textoverlay name=o ! appsink name=video",
                    outputs: ["fakesink"])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(try ended.report.only.frames == 3)
                #expect(ended.errors.hasPrefix("gst-bridge: warning: "), "\(ended.errors)")
                #expect(ended.errors.contains("/GstTextOverlay:o)"), "\(ended.errors)")
                #expect(ended.errors.contains("received non-TIME newsegment"), "\(ended.errors)")
            }
        }

        @Test func repeatedWarningIsShownOnceAndCounted() async throws {
            let ended = try await GstBridge.run(
                // Nine buffers of zeros, which are not valid RTP packets.
                capture:
                    "audiotestsrc wave=silence num-buffers=9 ! capssetter replace=true join=false "
                    + "caps=\"application/x-rtp,media=audio,clock-rate=8000,encoding-name=PCMU,"
                    + "payload=0\" ! rtppcmudepay ! fakesink "
                    + "videotestsrc num-buffers=300 ! appsink name=video",
                outputs: ["fakesink"])
            #expect(ended.status == 0, "\(ended.errors)")
            let shown = ended.errors.split(separator: "\n").filter { $0.contains(": warning: ") }
            #expect(shown.count <= 1, "\(ended.errors)")
        }

        @Test(arguments: [
            Standing(
                capture: "videotestsrc is-live=true ! valve drop=true", output: "fakesink",
                words: [
                    "the capture produces nothing for \"video\"", "valve0 (valve) receives data",
                ]),
            Standing(
                capture: "videotestsrc is-live=true",
                output: "tee name=t t. ! fakesink t. ! fakesink",
                words: [
                    "in output \"output\"", "fakesink1 has not received its first buffer",
                    "fakesink0 has its first buffer", "each branch of t",
                ]),
            Standing(
                capture: "videotestsrc is-live=true ! video/x-raw,width=64,height=48",
                output: "appsrc name=video ! jpegenc ! mux. audiotestsrc is-live=true ! "
                    + "valve drop=true ! opusenc ! queue ! matroskamux name=mux ! fakesink name=end",
                words: [
                    "end has not received its first buffer",
                    "mux (matroskamux) waits for data on its pad",
                    "audio_0", "feed the pad",
                ]),
            Standing(
                capture: "videotestsrc",
                output: "queue max-size-buffers=2 ! identity sleep-time=100000000 ! fakesink",
                words: [
                    "output \"output\" accepts no more", "queue0 is full, and identity0 reads",
                ]),
        ])
        func stallReportNamesTheOutputAndItsCause(standing: Standing) async throws {
            try await GstBridge.start(capture: standing.capture, outputs: [standing.output]) {
                child in
                try await child.waitForErrors(to: "say what waits") {
                    $0.contains("nothing has moved for") && $0.hasSuffix("\n")
                }
                let reported = child.errors
                for word in standing.words {
                    #expect(reported.contains(word), "\(word): \(reported)")
                }
            }
        }
    }
}

/// A bridge with a stalled element.
struct Standing: CustomTestStringConvertible, Sendable {
    let capture: String
    let output: String
    let words: [String]

    var testDescription: String { "\(capture) → \(output)" }
}
