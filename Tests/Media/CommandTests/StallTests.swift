import Foundation
import TestSupport
import Testing

extension CommandTests {
    /// An output that stalls loses frames. The report counts them, and the queue stays short.
    @Suite(.hangGuard) struct StallTests {
        @Test func aStalledOutputKeepsAFewFramesAndCountsTheOthers() async throws {
            try await withTemporaryDirectory { directory in
                let pipe = directory.file("pipe")
                #expect(mkfifo(pipe, 0o600) == 0)
                // The output can open the pipe, but not even one frame fits into it.
                let reader = open(pipe, O_RDONLY | O_NONBLOCK)
                defer { close(reader) }
                let ended = try await GstBridge.start(
                    capture: "videotestsrc is-live=true ! "
                        + "video/x-raw,format=I420,width=320,height=240,framerate=100/1",
                    outputs: ["filesink location=\(pipe)"], ["--progress", "always"]
                ) { child in
                    try await child.waitForErrors(to: "capture 60 frames") {
                        InterruptionTests.framesSoFar($0) > 60
                    }
                    child.send(signal: SIGINT)
                    try await child.waitForErrors(to: "finish") { $0.contains("finishing") }
                    try await Tool.check("sh", ["-c", "cat <\"$0\" >/dev/null", pipe])
                    return Ended(try await child.end())
                }
                #expect(ended.status == 0, "\(ended.errors)")
                let report = try ended.report
                #expect(report.ended == "interrupt" && report.capture.frames > 60)
                #expect(report.only.frames + report.only.dropped == report.capture.frames)
                // Four frames wait in the queue, and the output is processing one.
                #expect((1...6).contains(report.only.frames), "\(report.only)")
            }
        }

        @Test(
            arguments: [
                ("identity name=slow sleep-time=60000000", "slow (identity) still processes"),
                // On a busy machine it may be processing a frame at that moment.
                ("video/x-raw,framerate=2/1 ! x264enc name=slow", "(slow (x264enc) "),
            ])
        func namesTheBlockingElement(elements: String, words: String) async throws {
            try await GstBridge.start(
                capture: "videotestsrc is-live=true ! \(elements)", outputs: ["fakesink"]
            ) { child in
                try await child.waitForErrors(to: "name the element") { $0.contains(words) }
                child.send(signal: SIGKILL)
                _ = try await child.end()
            }
        }

        @Test func fileCaptureWaitsForASlowOutput() async throws {
            let ended = try await GstBridge.run(
                capture: "videotestsrc num-buffers=100 ! video/x-raw,width=64,height=48",
                outputs: ["slow=identity sleep-time=5000 ! fakesink", "fast=fakesink"])
            #expect(ended.status == 0, "\(ended.errors)")
            let report = try ended.report
            #expect(report.capture.dropped == 0)
            #expect(report.outputs.values.allSatisfy { $0.frames == 100 && $0.dropped == 0 })
        }
    }
}
