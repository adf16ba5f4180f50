import BridgeEngine
import MediaBridgeAgora
import MediaBridgeTesting
import MediaCore
import TestSupport
import Testing

/// A second video track in addition to the source's.
@Suite(.hangGuard, .balanced)
struct CustomTrackTests {
    @Test func aCustomTrackIsSentWhileItIsPublished() async throws {
        let network = LoopbackNetwork()
        let (anna, ben) = (makeEngine(transport: network), makeEngine(transport: network))
        let track = try await anna.createCustomVideoTrack(.bytes)
        let events = ben.events
        let shared = SharedSink(SinkScript())
        let sink = SinkScript()
        let renderer = SharedSink(sink)
        try await ben.setRemoteVideoRenderer(renderer, forUserID: "anna", track: track)
        #expect(
            await ben.remoteVideoRenderer(forUserID: "anna", track: track)?.refers(to: renderer)
                == true)
        #expect(
            await ben.remoteVideoRenderer(forUserID: "anna", track: track)?.refers(to: shared)
                == false)
        #expect(await ben.remoteVideoRenderer(forUserID: "anna") == nil)
        try await ben.joinChannel("room", userID: "ben", role: .audience)
        let early = await #expect(throws: EngineError.self) {
            try await anna.publishCustomVideoTrack(track)
        }
        #expect(early?.code == .notInChannel)
        try await anna.joinChannel("room", userID: "anna")
        // The track is not published yet: other users do not get its frames.
        #expect(anna.pushExternalVideoFrame(external(0), track: track) == .accepted)
        try await anna.publishCustomVideoTrack(track)
        #expect(anna.pushExternalVideoFrame(external(40), track: track) == .accepted)
        await sink.rendered(1)
        try await anna.unpublishCustomVideoTrack(track)
        _ = await events.first { event in
            if case .unpublished(.video(track), by: "anna") = event { true } else { nil }
        }
        #expect(anna.pushExternalVideoFrame(external(80), track: track) == .accepted)
        try await anna.publishCustomVideoTrack(track)
        #expect(anna.pushExternalVideoFrame(external(120), track: track) == .accepted)
        await sink.rendered(2)
        await anna.shutDown()
        await ben.shutDown()
        #expect(await anna.statistics.sent == 2)
        #expect(sink.frames.count == 2)
    }

    @Test func aFailedProcessorNamesItsTrackAndItsPoint() async throws {
        let engine = makeEngine { $0.hasVideo = false }
        let track = try await engine.createCustomVideoTrack(.bytes)
        let events = engine.events
        try await engine.setVideoProcessors(
            [Work { _ in throw Refusal(reason: "no model") }], at: .capture, track: track)
        try await engine.startPreview()
        #expect(engine.pushExternalVideoFrame(external(0), track: track) == .accepted)
        let failed = await events.first { event in
            if case .processorFailed(let track, let point, _) = event {
                (track, point)
            } else {
                nil
            }
        }
        let (named, point) = try #require(failed)
        #expect(named == .video(track) && point == .capture)
        await engine.shutDown()
    }

    @Test func missingTrackIsNotPublished() async throws {
        let network = LoopbackNetwork()
        let engine = makeEngine(transport: network) { $0.hasVideo = false }
        try await engine.joinChannel("room", userID: "anna")
        let track = try await engine.createCustomVideoTrack(.bytes)
        try await engine.destroyCustomVideoTrack(track)
        let error = await #expect(throws: EngineError.self) {
            try await engine.publishCustomVideoTrack(track)
        }
        #expect(error?.code == .invalidArgument)
        await engine.shutDown()
    }
}
