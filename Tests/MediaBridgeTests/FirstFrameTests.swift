import TestSupport
import Testing

@testable import MediaBridge

@Suite(.deadline(minutes: 2)) struct FirstFrameTests {
    /// The reader looks for a frame all the time, also while the first one is being announced.
    @Test func theFirstFrameOfALiveCaptureIsLive() async throws {
        for _ in 0..<100 {
            let capture = try Capture(
                "videotestsrc is-live=true num-buffers=1 ! "
                    + "video/x-raw,format=GRAY8,width=16,height=16", depth: 3)
            let branch = capture.branches[0]
            branch.pull {}
            capture.prepare()
            try await capture.pipeline.setState(.playing)
            var item: SampleTranslation.Item?
            while item == nil, capture.pipeline.failure == nil {
                item = branch.tryPull()
                if item == nil { await Task.yield() }
            }
            guard case .frame(let frame) = try #require(item) else {
                Issue.record("no frame")
                continue
            }
            #expect(frame.liveTiming != nil)
            try await capture.pipeline.setState(.null)
        }
    }
}
