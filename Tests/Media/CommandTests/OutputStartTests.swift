import Glibc
import MediaBridge
import TestSupport
import Testing

extension CommandTests {
    /// A failing output does not affect the others, even if it fails at its start. Stalls are
    /// reported.
    @Suite(.hangGuard) struct OutputStartTests {
        @Test(
            arguments: [
                ("filesink location=/no/such/directory/out", "/no/such/directory/out"),
                ("autovideosink", "xvfb-run"), ("ximagesink", "xvfb-run"),
            ])
        func outputThatFailsAtStartDoesNotAffectOthers(output: String, word: String) async throws {
            let ended = try await GstBridge.run(
                capture: "videotestsrc num-buffers=20", outputs: ["bad=\(output)", "good=fakesink"])
            #expect(ended.status == 1)
            #expect(ended.errors.contains(word), "\(ended.errors)")
            let report = try ended.report
            #expect(report.ended == "error")
            #expect(report.outputs["good"]?.frames == 20)
            #expect(report.outputs["bad"]?.frames == 0)
            #expect(report.captures["video"]?.frames == 20)
        }

        /// The name is in the error, and the reason in the report.
        @Test(
            arguments: [
                "filesink location=/no/such/directory/out", "identity error-after=3 ! fakesink",
            ])
        func namesTheOutputThatFailed(output: String) async throws {
            let ended = try await GstBridge.run(
                capture: "videotestsrc num-buffers=20", outputs: ["bad=\(output)", "good=fakesink"])
            let report = try ended.report
            #expect(ended.errors.contains("output \"bad\": "), "\(ended.errors)")
            let error = try #require(report.outputs["bad"]?.error)
            #expect(ended.errors.contains(error) && report.errors == [error])
            #expect(report.outputs["good"]?.error == nil && report.captures["video"]?.error == nil)
        }

        @Test func namesTheRecordingThatFailed() async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("out.mkv")
                let ended = try await GstBridge.run([
                    "record", "--report", "json", "--video", "h264", "--capture",
                    "videotestsrc num-buffers=9 ! x264enc", path,
                ])
                let error = try #require(try ended.report.outputs["recording"]?.error)
                #expect(ended.status == 1 && error.contains("\"\(path)\""), "\(error)")
                #expect(try ended.report.errors == [error])
            }
        }

        @Test(
            arguments: [
                "filesrc location=/no/such/file ! wavparse",
                "audiotestsrc num-buffers=9 ! identity error-after=3",
            ])
        func namesTheCaptureThatFailed(capture: String) async throws {
            try await withTemporaryDirectory { directory in
                let file = try directory.write(
                    """
                    capture:
                      good: videotestsrc num-buffers=20
                      bad: \(capture)
                    outputs:
                      one: appsrc name=good ! fakesink
                      two: appsrc name=bad ! fakesink
                    """, to: "two.yaml")
                let ended = try await GstBridge.run(["run", file, "--report", "json"])
                #expect(ended.status == 1)
                #expect(ended.errors.contains("capture \"bad\": "), "\(ended.errors)")
                let report = try ended.report
                let error = try #require(report.captures["bad"]?.error)
                #expect(report.errors == [error] && report.captures["good"]?.error == nil)
            }
        }

        @Test func reportsTheErrorOfABridgeThatCannotBeCreated() async throws {
            let ended = try await GstBridge.run(capture: "nosuchelement", outputs: [])
            #expect(try ended.report.errors?.first?.contains("nosuchelement") == true)
        }

        // Debian 13 has no dfbvideosink.
        @Test(
            arguments: ["autovideosink", "dfbvideosink"].filter {
                (try? ElementFactory.find($0)) != nil
            })
        func missingDisplayIsAnErrorNotACrash(output: String) async throws {
            let ended = try await GstBridge.run(
                capture: "videotestsrc num-buffers=20", outputs: [output])
            #expect(ended.status == 1, "\(ended.errors)")
            #expect(ended.errors.contains("display") || ended.errors.contains("framebuffer"))
            #expect(try ended.report.ended == "error")
        }

        @Test func interleavingBeyondTheQueuesIsReported() async throws {
            try await GstBridge.start(
                // The compositor needs both streams, but the valve drops every frame of "two".
                capture:
                    "videotestsrc num-buffers=300 ! video/x-raw,width=64,height=48 ! tee name=t "
                    + "t. ! queue ! appsink name=one t. ! queue ! valve drop=true ! appsink name=two",
                outputs: [
                    "compositor name=m ! fakesink appsrc name=one ! m. appsrc name=two ! m."
                ]
            ) { child in
                try await child.waitForErrors(to: "say what does not move") {
                    $0.contains("nothing has moved for") && $0.contains("max-size-bytes")
                }
                let reported = child.errors
                #expect(reported.contains("output \"output\" waits for \"two\""), "\(reported)")
                #expect(reported.contains("its queue of \"one\" is full"), "\(reported)")
                child.send(signal: SIGINT)
                #expect(try await child.end().status == 0)
            }
        }
    }
}
