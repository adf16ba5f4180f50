import TestSupport
import Testing

/// What a process holds after many connections.
@Suite(.serialized, .deadline(minutes: 3))
struct ConnectionResourceTests {
    @Test func fiftyConnectionsClosedInAnyStateLeaveNothing() async throws {
        let result = try await Tool.run(
            try Tool.built("PeerCycleProbe"), ["50"], environment: Holdings.tracing,
            within: .seconds(150))
        #expect(result.status == 0, "\(result.errors.suffix(2000))")
        try Holdings.check(result)
    }

    @Test func aHundredViewersWhoEndInAnyWayLeaveNothing() async throws {
        // Those who vanish are missed for ten seconds, and not longer.
        let environment = Holdings.tracing.merging(["MEDIABRIDGE_DEADLINE_FACTOR": "1"]) { $1 }
        let result = try await Tool.run(
            try Tool.built("CallProbe"), ["viewers"], environment: environment,
            within: .seconds(120))
        #expect(result.status == 0, "\(result.errors.suffix(2000))")
        // Measured after 100, 200 and 480: 25, 33 to 37 and 38 MB. Twenty at a time leave arenas and caches.
        try Holdings.check(result, heap: 20_000)
    }
}
