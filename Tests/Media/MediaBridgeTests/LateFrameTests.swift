import MediaBridge
import TestSupport
import Testing

/// A display that falls behind makes converters drop frames long before the display sees them.
@Suite(.hangGuard) struct LateFrameTests {
    @Test(arguments: ["", " max-lateness=20000000"])
    func framesThatConvertersLeaveOutAreCounted(sink: String) async throws {
        let report = try await Bridge.run(
            capture: "videotestsrc num-buffers=20 ! video/x-raw,format=I420,framerate=30/1",
            outputs: [
                "identity sleep-time=50000 ! videoconvert ! video/x-raw,format=RGB "
                    + "! fakesink sync=true qos=true" + sink
            ])
        let output = try #require(report.outputs["output"])
        #expect(output.frames + output.dropped.total == 20)
        #expect(output.dropped[.late] > 0)
    }
}
