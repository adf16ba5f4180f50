import TestSupport
import Testing

/// What a process holds after many starts and stops.
@Suite(.serialized, .deadline(minutes: 3))
struct ResourceTests {
    @Test func threeHundredStartsAndStopsLeaveNoObjectDescriptorOrThread() async throws {
        try await withTemporaryDirectory { directory in
            let result = try await Tool.run(
                try Tool.built("CycleProbe"), ["300", directory.file("cycle.mp4")],
                environment: [
                    "GST_TRACERS": "leaks", "GST_DEBUG": "GST_TRACER:7", "GST_DEBUG_NO_COLOR": "1",
                    "G_DEBUG": "fatal-warnings",
                ], within: .seconds(150))
            #expect(result.status == 0, "\(result.errors.suffix(2000))")
            let left = result.errors.split(separator: "\n").filter {
                $0.contains(" object-alive,") && !$0.contains("new format string")
            }
            #expect(left.isEmpty, "\(left.prefix(5).joined(separator: "\n"))")
            let early = try Holdings(of: "early", in: result.output)
            let late = try Holdings(of: "late", in: result.output)
            // A thread pool breathes; 270 cycles that each left something would be far beyond.
            #expect(late.descriptors <= early.descriptors + 8)
            #expect(late.threads <= early.threads + 8)
        }
    }

    private struct Holdings {
        var descriptors: Int
        var threads: Int

        init(of name: String, in output: String) throws {
            let line = try #require(output.split(separator: "\n").first { $0.hasPrefix(name) })
            let words = line.split(separator: " ")
            descriptors = try #require(Int(words[2]))
            threads = try #require(Int(words[4]))
        }
    }
}
