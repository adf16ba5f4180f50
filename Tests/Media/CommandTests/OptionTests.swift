import Foundation
import TestSupport
import Testing

extension CommandTests {
    /// The effects of the options of `run`.
    @Suite(.hangGuard) struct OptionTests {
        private static let pictures = "videotestsrc ! video/x-raw,format=GRAY8,width=64,height=48"

        @Test(arguments: ["bash", "zsh", "fish"])
        func shellsCompleteCodecsFiltersAndRequests(shell: String) async throws {
            let script = try await GstBridge.run(["--generate-completion-script", shell]).output
            for word in ["h264", "opus", "copy", "grayscale", "mirror", "pause", "resume"] {
                #expect(script.contains(word), "\(word)")
            }
        }

        @Test func optionsReplaceTheCaptureAndAddOutputs() async throws {
            try await withTemporaryDirectory { directory in
                let file = try directory.write(
                    "capture: videotestsrc num-buffers=9\noutputs: {screen: fakesink}\n",
                    to: "a.yaml")
                let ended = try await GstBridge.run([
                    "run", file, "--capture", "videotestsrc num-buffers=4", "--output",
                    "more=fakesink", "--report", "json",
                ])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(
                    try ended.report.outputs.mapValues(\.frames) == ["screen": 4, "more": 4])
            }
        }

        @Test(arguments: ["100", "1m", "slow=20MB"])
        func slowOutputLosesNoFrameWithinItsQueueLimit(limit: String) async throws {
            let ended = try await GstBridge.run(
                capture: "videotestsrc is-live=true num-buffers=60 "
                    + "! video/x-raw,format=GRAY8,width=64,height=48,framerate=120/1",
                outputs: ["slow=identity sleep-time=20000 ! fakesink sync=false"],
                ["--queue", limit])
            #expect(ended.status == 0, "\(ended.errors)")
            let report = try ended.report
            let counts = try #require(report.outputs["slow"])
            #expect(counts.frames == report.capture.frames && counts.dropped == 0)
        }

        @Test(arguments: [
            (
                ["--output", "fakesink", "--queue", "none=3s"],
                "no gst-launch string is the output \"none\""
            ),
            (["--queue", "3s"], "no output is one"),
            (["--output", "fakesink", "--queue", "soon"], "'soon' is invalid"),
        ])
        func queueLimitWithoutEffectIsRefused(options: [String], text: String) async throws {
            let ended = try await GstBridge.run(
                ["run", "--capture", "videotestsrc num-buffers=1"] + options)
            #expect(ended.status == 64 && ended.errors.contains(text), "\(ended.errors)")
        }

        @Test func framesOptionStopsAfterThatManyFrames() async throws {
            try await withTemporaryDirectory { directory in
                let file = directory.file("out.raw")
                let ended = try await GstBridge.run(
                    capture: Self.pictures, outputs: ["filesink location=\(file)"],
                    ["--frames", "7"])
                #expect(ended.status == 0, "\(ended.errors)")
                let report = try ended.report
                #expect(report.ended == "frames")
                #expect(report.capture.frames == 7)
                #expect(report.only.frames == 7)
                #expect(try bytes(of: file).count == 7 * 64 * 48)
            }
        }

        /// The frames of one stream are counted, and the other stream ends at the same time.
        @Test func framesOptionCountsOneStream() async throws {
            let stream = Self.pictures + ",framerate=25/1 ! queue ! appsink name="
            let ended = try await GstBridge.run(
                capture: stream + "video " + stream + "other", outputs: ["fakesink"],
                ["--frames", "30"])
            #expect(ended.status == 0, "\(ended.errors)")
            let report = try ended.report
            #expect(report.ended == "frames")
            #expect(report.captures.values.map(\.frames).max() == 30)
        }

        @Test(arguments: ["2s", "2", "2000ms"])
        func durationOptionStopsAfterThatMuchMediaTime(time: String) async throws {
            let ended = try await GstBridge.run(
                capture: Self.pictures + ",framerate=25/1", outputs: ["fakesink"],
                ["--duration", time])
            #expect(ended.status == 0, "\(ended.errors)")
            #expect(try ended.report.ended == "duration")
            #expect(try ended.report.only.frames == 50)
        }

        @Test func reportIsTheLastLineAndMessagesGoToStandardError() async throws {
            let ended = try await GstBridge.run(
                capture: "videotestsrc is-live=true num-buffers=60", outputs: ["fakesink"],
                ["--progress", "always"])
            #expect(ended.status == 0)
            #expect(ended.output.split(separator: "\n").count == 1)
            #expect(ended.errors.contains(" fps "))
            let object = try JSONSerialization.jsonObject(with: Data(ended.output.utf8))
            let keys = try #require(object as? [String: Any]).keys.sorted()
            #expect(keys == ["captures", "ended", "outputs", "seconds"])
        }

        @Test func reportNoneLeavesStandardOutputEmpty() async throws {
            let ended = try await GstBridge.run([
                "run", "--capture", "videotestsrc num-buffers=3", "--report", "none",
            ])
            #expect(ended.status == 0)
            #expect(ended.output.isEmpty)
            #expect(ended.errors.isEmpty)
        }

        @Test func variableValueStaysOneWord() async throws {
            try await withTemporaryDirectory { directory in
                let yaml = try directory.write(
                    """
                    about: a variable
                    variables:
                      file: {meaning: where to write}
                    capture: |
                      videotestsrc num-buffers=3 ! video/x-raw,format=GRAY8,width=64,height=48
                    outputs:
                      raw: |
                        filesink location=${file}
                    """, to: "test.yaml")
                // Each name is an unusual file name, and must add no element and no link.
                let names = [
                    "plain.raw", "a b ! fakesink name=x.raw", "\"quoted.raw", "ümlaut;$(x).raw",
                ]
                for name in names {
                    let ended = try await GstBridge.run([
                        "run", yaml, "--set", "file=\(directory.file(name))", "--report", "json",
                    ])
                    #expect(ended.status == 0, "\(ended.errors)")
                    #expect(try bytes(of: directory.file(name)).count == 3 * 64 * 48)
                    #expect(try ended.report.outputs["raw"]?.frames == 3)
                }
                #expect(directory.contents == (names + ["test.yaml"]).sorted())
            }
        }

        @Test func outputsAreReportedUnderTheirNames() async throws {
            let ended = try await GstBridge.run(
                capture: "videotestsrc num-buffers=5",
                outputs: ["fakesink", "second=fakesink", "queue ! fakesink name=sink", "fakesink"])
            #expect(ended.status == 0, "\(ended.errors)")
            let report = try ended.report
            #expect(report.outputs.keys.sorted() == ["output", "output-2", "output-3", "second"])
            #expect(report.outputs.values.allSatisfy { $0.frames == 5 && $0.dropped == 0 })
        }

        @Test func failedOutputDoesNotAffectOthers() async throws {
            try await withTemporaryDirectory { directory in
                let good = directory.file("good.mp4")
                let ended = try await GstBridge.run(
                    capture: "videotestsrc num-buffers=60 ! video/x-raw,width=320,height=240",
                    outputs: [
                        "full=filesink location=/dev/full",
                        "bad=identity error-after=10 ! fakesink",
                        "good=videoconvert ! x264enc ! mp4mux ! filesink location=\(good)",
                    ])
                #expect(ended.status == 1)
                #expect(ended.errors.contains("No space left"))
                #expect(ended.errors.contains("identity"))
                let report = try ended.report
                #expect(report.ended == "error")
                #expect(report.outputs["good"]?.frames == 60)
                #expect(report.outputs["good"]?.dropped == 0)
                #expect(try await MediaProbe(of: good).video?.frames == 60)
            }
        }
    }
}
