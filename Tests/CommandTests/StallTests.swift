import TestSupport
import Testing

extension RunEndTests {
    /// An output that stalls costs frames, which are counted, and no memory.
    @Suite(.deadline(minutes: 2)) struct StallTests {
        @Test(.enabled(if: !Sanitizer.isActive, "a sanitizer keeps what is freed"))
        func sixHundredFramesIntoAStalledOutputCostNoMemory() async throws {
            let idle = try await GstBridge.start(
                capture: Self.capture(frames: 60, framesPerSecond: 30), outputs: ["fakesink"],
                ["--progress", "always"]
            ) { child in
                try await child.waitForErrors(to: "count frames") {
                    RunEndTests.InterruptionTests.framesSoFar($0) > 10
                }
                let memory = try child.peakMemory
                _ = try await child.end()
                return memory
            }
            try await GstBridge.start(
                capture: Self.capture(frames: 600, framesPerSecond: 300),
                outputs: ["identity sleep-time=1000000 ! fakesink sync=false"],
                ["--progress", "always"]
            ) { child in
                // The capture is over when the count stands still; the output still has some to go.
                try await child.waitForErrors(to: "take the last frame") { text in
                    let counts = text.split(separator: "\n").suffix(2).map {
                        RunEndTests.InterruptionTests.framesSoFar(String($0))
                    }
                    return counts.count == 2 && counts[0] > 0 && counts[0] == counts[1]
                }
                let memory = try child.peakMemory
                #expect(memory - idle < 10_000_000)
                let ended = Ended(try await child.end())
                #expect(ended.status == 0, "\(ended.errors)")
                let report = try ended.report
                #expect(report.ended == "eos")
                #expect(report.capture.frames + report.capture.dropped == 600)
                #expect(report.only.frames + report.only.dropped == report.capture.frames)
                // It takes one a second. A busy machine may lose some before they reach it.
                #expect(report.only.frames < 100)
            }
        }

        @Test func aFileWaitsForASlowOutputAndLosesNothing() async throws {
            let ended = try await GstBridge.run(
                capture: "videotestsrc num-buffers=100 ! video/x-raw,width=64,height=48",
                outputs: ["slow=identity sleep-time=5000 ! fakesink", "fast=fakesink"])
            #expect(ended.status == 0, "\(ended.errors)")
            let report = try ended.report
            #expect(report.capture.dropped == 0)
            #expect(report.outputs.values.allSatisfy { $0.frames == 100 && $0.dropped == 0 })
        }

        private static func capture(frames: Int, framesPerSecond: Int) -> String {
            "videotestsrc is-live=true num-buffers=\(frames) ! video/x-raw,format=I420,width=640,"
                + "height=480,framerate=\(framesPerSecond)/1"
        }
    }
}
