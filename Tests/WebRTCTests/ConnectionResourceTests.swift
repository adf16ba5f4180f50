import TestSupport
import Testing

/// What a process holds after many connections.
@Suite(.serialized, .deadline(minutes: 3))
struct ConnectionResourceTests {
    @Test func fiftyConnectionsClosedInAnyStateLeaveNothing() async throws {
        let result = try await Tool.run(
            try Tool.built("PeerCycleProbe"), ["50"],
            environment: [
                "GST_TRACERS": "leaks", "GST_DEBUG": "GST_TRACER:7", "GST_DEBUG_NO_COLOR": "1",
                "G_DEBUG": "fatal-criticals",
            ], within: .seconds(150))
        #expect(result.status == 0, "\(result.errors.suffix(2000))")
        // GStreamer keeps the certificate of the process for its next connection.
        let left = result.errors.split(separator: "\n").filter {
            $0.contains(" object-alive,") && !$0.contains("new format string")
                && !$0.contains("GstDtlsAgent")
        }
        #expect(left.isEmpty, "\(left.prefix(5).joined(separator: "\n"))")
        let lines = result.output.split(separator: "\n").map { $0.split(separator: " ") }
        let early = try #require(lines.first { $0.first == "early" })
        let late = try #require(lines.first { $0.first == "late" })
        // Of a thread pool some come and go; forty connections that each left one would be far beyond.
        for place in [2, 4] {
            let (before, after) = (try #require(Int(early[place])), try #require(Int(late[place])))
            #expect(after <= before + 8, "\(late.joined(separator: " "))")
        }
    }
}
