import TestSupport
import Testing

/// The objects that a process holds after starts and stops. `make soak` measures growth.
@Suite(.hangGuard)
struct ResourceTests {
    @Test func startsAndStopsLeakNoObject() async throws {
        try await withTemporaryDirectory { directory in
            let result = try await Tool.run(
                try Tool.built("CycleProbe"), ["30", directory.path],
                environment: [
                    "GST_TRACERS": "leaks", "GST_DEBUG": "GST_TRACER:7", "GST_DEBUG_NO_COLOR": "1",
                    "G_DEBUG": "fatal-warnings",
                ])
            #expect(result.status == 0, "\(result.errors.suffix(2000))")
            #expect(result.output.contains("30 cycles"))
            let left = result.errors.split(separator: "\n").filter {
                $0.contains(" object-alive,") && !$0.contains("new format string")
            }
            #expect(left.isEmpty, "\(left.prefix(5).joined(separator: "\n"))")
        }
    }
}
