import TestSupport
import Testing

@testable import MediaBridge

@Suite(.hangGuard) struct FirstFrameTests {
    /// A reader may look for a frame at any time, even while the first one is being announced.
    @Test func firstFrameIsReadAfterItsTimingIsKnown() async throws {
        let capture = try Capture(
            "videotestsrc num-buffers=1 ! video/x-raw,format=GRAY8,width=16,height=16", depth: 3)
        let branch = capture.branches[0]
        let (wasEarly, hasArrived) = (Observed<Bool?>(nil), Happening())
        branch.connect { branch in
            let isEarly = branch.tryPull() != nil
            wasEarly.change { $0 = isEarly }
            return LiveTiming(clockOrigin: .zero, latency: .zero)
        }
        branch.pull { hasArrived.happen() }
        capture.prepare()
        try await capture.pipeline.setState(.playing)
        await hasArrived.wait()
        guard case .frame(let frame) = try #require(branch.tryPull()) else {
            Issue.record("no frame")
            return
        }
        #expect(wasEarly.value == false && frame.liveTiming != nil)
        try await capture.pipeline.setState(.null)
    }
}
