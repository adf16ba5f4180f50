import GStreamerKit
import TestSupport
import Testing

@Suite(.hangGuard) struct GraphTests {
    @Test func pipelineDescribesItsGraph() throws {
        let pipeline = try Pipeline(parsing: "videotestsrc name=here ! fakesink")
        #expect(pipeline.dot.hasPrefix("digraph"))
        #expect(pipeline.dot.contains("here"))
    }
}
