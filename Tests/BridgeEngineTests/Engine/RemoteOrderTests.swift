import BridgeEngine
import MediaCore
import TestSupport
import Testing

/// What comes from a network, whose estimate of the times is corrected now and then.
@Suite(.deadline(minutes: 3), .balanced)
struct RemoteOrderTests {
    @Test func aPictureThatIsDueBeforeTheLastFollowsItDirectly() async throws {
        let (transport, sink) = (SlowTransport(), SinkScript())
        transport.answer.happen()
        let engine = makeEngine(transport: transport)
        try await engine.setRemoteVideoRenderer(ScriptedSink(sink), forUserID: "anna")
        try await engine.joinChannel("room", userID: "ben", role: .audience)
        let receiver = try #require(transport.receiver)
        let due = [100, 133, 113, 133, 200, 200, 233]
        for (number, milliseconds) in due.enumerated() {
            receiver.receive(try frame(milliseconds), track: .main, from: "anna")
            await sink.rendered(number + 1)
        }
        let times = sink.frames.compactMap(\.runningTime)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
        // It is in time again as soon as it can be.
        #expect(times[4] - times[0] == MediaTime(.milliseconds(100)))
        #expect(times[6] - times[0] == MediaTime(.milliseconds(133)))
        await engine.shutDown()
    }
}
