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

        // Debian 13 has no dfbvideosink.
        @Test(
            arguments: ["autovideosink", "dfbvideosink"].filter {
                (try? ElementFactory.find($0)) != nil
            })
        func noDisplayIsAnErrorAndNoCrash(output: String) async throws {
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
                let told = child.errors
                #expect(told.contains("output \"output\" waits for \"two\""), "\(told)")
                #expect(told.contains("its queue of \"one\" is full"), "\(told)")
                child.send(signal: SIGINT)
                #expect(try await child.end().status == 0)
            }
        }
    }
}
