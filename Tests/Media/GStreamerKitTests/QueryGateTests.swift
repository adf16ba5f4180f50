import Synchronization
import TestSupport
import Testing

@testable import GStreamerKit

@Suite(.hangGuard) struct QueryGateTests {
    private static let text = "appsrc name=in ! fakesink"

    @Test func allocationQueriesAreAdmittedOnlyFromReadyOn() async throws {
        let pipeline = try Pipeline(parsing: Self.text)
        let gate = pipeline.queries
        for _ in 0..<3 {
            #expect(!gate.admitAllocationQuery { true })
            for state in [PipelineState.ready, .paused, .playing, .ready] {
                try await pipeline.setState(state)
                #expect(gate.admitAllocationQuery { true })
            }
            try await pipeline.setState(.null)
        }
    }

    @Test func unopenedElementsGetNoAllocationQuery() async throws {
        let pipeline = try Pipeline(parsing: "appsrc ! filesink location=/no/such/directory/file")
        await #expect(throws: PipelineError.self) { try await pipeline.setState(.ready) }
        #expect(!pipeline.queries.admitAllocationQuery { true })
        try await pipeline.setState(.null)
    }

    @Test func capsAreQueriedUntilElementsClose() async throws {
        let pipeline = try Pipeline(parsing: Self.text)
        let source = try #require(pipeline.appSources["in"])
        #expect(source.acceptedCaps(of: nil)?.isAny == true)
        try await pipeline.setState(.playing)
        #expect(source.acceptedCaps(of: nil)?.isAny == true)
        try await pipeline.setState(.null)
        #expect(source.acceptedCaps(of: nil) == nil)
    }

    /// The query returns only after the change to NULL has begun and the elements are at READY.
    @Test(.timeLimit(.minutes(1))) func changeToNullWaitsForAQuery() async throws {
        let pipeline = try Pipeline(parsing: Self.text)
        try await pipeline.setState(.playing)
        let (entered, enter) = AsyncStream<Void>.makeStream()
        let left = Mutex(false)
        async let query = onAThreadOfItsOwn {
            pipeline.queries.admitAllocationQuery {
                enter.finish()
                while pipeline.isUp {}
                left.withLock { $0 = true }
                return true
            }
        }
        for await _ in entered {}
        try await pipeline.setState(.null)
        #expect(left.withLock { $0 })
        #expect(await query)
        #expect(!pipeline.queries.admitAllocationQuery { true })
    }
}
