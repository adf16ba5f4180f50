import TestSupport
import Testing

/// The resources that a process holds after its connections have closed. `make soak` measures their
/// growth.
@Suite(.serialized, .hangGuard)
struct ConnectionResourceTests {
    /// Fifteen cycles cover each state, codec and order of closing at least once.
    @Test(arguments: [("PeerCycleProbe", ["15"]), ("CallProbe", ["viewers"])])
    func connectionsLeakNoObjectHoweverTheyEnd(probe: String, arguments: [String]) async throws {
        let result = try await Tool.run(
            try Tool.built(probe), arguments, environment: Holdings.tracing)
        #expect(result.status == 0, "\(result.errors.suffix(2000))")
        Holdings.checkObjects(result)
    }
}
