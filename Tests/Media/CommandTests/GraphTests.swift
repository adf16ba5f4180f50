import TestSupport
import Testing

extension CommandTests {
    @Suite struct GraphTests {
        @Test func graphsAreWrittenToTheDotDirectory() async throws {
            try await withTemporaryDirectory { directory in
                try await Tool.check(
                    try Tool.gstBridge,
                    ["run", "--capture", "videotestsrc num-buffers=3", "--output", "fakesink"],
                    environment: ["GST_DEBUG_DUMP_DOT_DIR": directory.path])
                let names = directory.contents
                #expect(names.contains { $0.contains("playing") && $0.hasSuffix(".dot") })
            }
        }
    }
}
