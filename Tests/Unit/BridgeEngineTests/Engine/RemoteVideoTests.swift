import Dispatch
import MediaBridgeAgora
import MediaCore
import TestSupport
import Testing

@testable import BridgeEngine

/// Video from another user of the channel.
@Suite(.hangGuard, .balanced)
struct RemoteVideoTests {
    @Test func frameDueBeforeThePreviousOneFollowsItDirectly() async throws {
        let (transport, sink) = (SlowTransport(), SinkScript())
        transport.answer.happen()
        let engine = makeEngine(transport: transport)
        try await engine.setRemoteVideoRenderer(ScriptedSink(sink), forUserID: "anna")
        try await engine.joinChannel("room", userID: "ben", role: .audience)
        let receiver = try #require(transport.receiver)
        let due = [100, 133, 113, 133, 200, 200, 233, -4000, 250]
        for (number, milliseconds) in due.enumerated() {
            receiver.receive(.picture(try frame(milliseconds)), .video(.main), from: "anna")
            await sink.rendered(number + 1)
        }
        let times = sink.frames.compactMap(\.runningTime)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
        // The frames are on time again as soon as possible.
        #expect(times[4] - times[0] == MediaTime(.milliseconds(100)))
        #expect(times[6] - times[0] == MediaTime(.milliseconds(133)))
        #expect(times[8] - times[0] == MediaTime(.milliseconds(150)))
        await engine.shutDown()
    }

    /// One unit is in the decoder and one waits for it while the user, or the receiver, leaves.
    @Test(arguments: [false, true])
    func unitInTheDecoderIsCountedAfterItsUserLeft(receiverLeaves: Bool) async throws {
        let (transport, sink, backend) = (SlowTransport(), SinkScript(), TestBackend())
        transport.answer.happen()
        let engine = makeEngine(backend, transport: transport)
        let renderer = try await engine.addVideoSink(ScriptedSink(sink), to: .remote("anna"))
        try await engine.joinChannel("room", userID: "ben", role: .audience)
        let receiver = try #require(transport.receiver)
        receiver.handle(.joined("anna"))
        let hold = backend.decoders.block()
        let h264 = VideoCodec.h264
        receiver.receive(.unit(h264.unit(isKey: true)), .video(.main), from: "anna")
        await hold.entered()
        receiver.receive(.unit(h264.unit(isKey: false)), .video(.main), from: "anna")
        if receiverLeaves {
            try await engine.leaveChannel()
        } else {
            receiver.handle(.left("anna", .quit))
            try await engine.removeVideoSink(renderer)
        }
        let track = EngineStatistics.RemoteTrack(user: "anna", track: .main)
        // A track whose renderer awaits the next channel is kept.
        let statistics = await engine.statistics
        let before = try #require(
            receiverLeaves
                ? statistics.remote["anna"]?[.main] : statistics.removed.remote.latest[track])
        #expect(before.decoding.offered == 2 && before.decoding.waiting == 1)
        #expect(before.decoding.dropped[.notStarted] == 1)
        hold.signal()
        await engine.shutDown()
        let final = await engine.statistics
        let after = try #require(
            receiverLeaves ? final.remote["anna"]?[.main] : final.removed.remote.latest[track])
        #expect(after.received == 2 && after.decoding.offered == 2)
        #expect(after.decoding.delivered == 1 && after.decoding.waiting == 0)
    }
}
