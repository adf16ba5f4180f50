import MediaBridge
import MediaBridgeWebRTC
import TestSupport
import Testing

/// A WHEP source up to the server's answer; tests on networks cover the rest.
@Suite(.hangGuard) struct WHEPSourceTests {
    @Test func readingASourceSendsAnOffer() async throws {
        let server = try ScriptedServer { _ in .response("403 Forbidden") }
        let source = try PipelineVideoSource(whep: "\(server.url)/whep", token: "secret")
        let error = try await #require(throws: PipelineError.self) {
            for try await _ in source.frames() {}
        }
        #expect(error.code == .refused)
        try expectOffer(server)
    }

    @Test func sequenceConnectsAfterItsSourceIsReleased() async throws {
        let server = try ScriptedServer { _ in .response("403 Forbidden") }
        let units = try PipelineVideoSource(whep: "\(server.url)/whep", token: "secret")
            .encodedFrames()
        await #expect(throws: PipelineError.self) { for try await _ in units {} }
        try expectOffer(server)
    }

    private func expectOffer(_ server: ScriptedServer) throws {
        #expect(server.requests.count == 1)
        let request = try #require(server.requests.first)
        #expect(request.method == "POST")
        #expect(request.path == "/whep")
        #expect(request.fields["authorization"] == "Bearer secret")
        #expect(request.body.contains("m=video"))
        #expect(request.body.contains("a=recvonly"))
    }
}
