import TestSupport
import Testing

/// What a process holds after its connections. How much it grows is a question for `make soak`.
@Suite(.serialized, .hangGuard)
struct ConnectionResourceTests {
    /// Fifteen cycles are each state, codec and order of closing at least once.
    @Test(arguments: [("PeerCycleProbe", ["15"]), ("CallProbe", ["viewers"])])
    func connectionsThatEndInAnyWayLeaveNoObject(probe: String, arguments: [String]) async throws {
        let result = try await Tool.run(
            try Tool.built(probe), arguments, environment: Holdings.tracing)
        #expect(result.status == 0, "\(result.errors.suffix(2000))")
        Holdings.checkObjects(result)
    }
}
