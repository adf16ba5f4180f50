import BridgeEngine
import MediaBridgeAgora
import MediaCore
import TestSupport
import Testing

/// Encoded units in push mode: decoded on input, and counted if they cannot be decoded.
@Suite(.hangGuard, .balanced)
struct EncodedPushTests {
    let backend = TestBackend()
    let sink = SinkScript()

    private func running() async throws -> MediaEngine {
        let engine = makeEngine(backend)
        try await engine.setExternalVideoSource(.encoded)
        try await engine.setLocalVideoRenderer(ScriptedSink(sink))
        try await engine.startPreview()
        return engine
    }

    /// A keyframe; its last byte is a mark for the decoder.
    private func unit(_ codec: VideoCodec, _ mark: UInt8 = 1) -> EncodedVideoFrame {
        codec.unit(isKey: true, mark: mark)
    }

    @Test func unitsBecomeFramesAndCodecsMayChange() async throws {
        let engine = try await running()
        for codec in [VideoCodec.h264, .h264, .vp8] {
            let taken = engine.pushExternalEncodedVideoFrame(unit(codec))
            #expect(taken == .accepted)
        }
        await sink.rendered(3)
        #expect(await engine.statistics.local[.main]?.bitRate != nil)
        try await engine.stopPreview()
        #expect(sink.names == ["h264", "h264", "vp8"])
        #expect(
            backend.decoders.calls == [
                "make h264", "drain h264", "stop h264", "make vp8", "stop vp8",
            ])
        await engine.shutDown()
    }

    @Test func undecodableUnitsAreCounted() async throws {
        let engine = try await running()
        for byte: UInt8 in [0, 255, 0, 1] {
            engine.pushExternalEncodedVideoFrame(unit(.h264, byte))
        }
        await sink.rendered(1)
        let empty = engine.pushExternalEncodedVideoFrame(
            EncodedVideoFrame(.h264, bytes: [], runningTime: nil))
        let raw = engine.pushExternalVideoFrame(external())
        #expect(empty == .dropped(.badSize))
        #expect(raw == .dropped(.wrongBufferType))
        try await engine.stopPreview()
        let track = try #require(await engine.statistics.local[.main])
        #expect(track.dropped[.undecodable] == 3)
        #expect(track.decoding.delivered == 1 && track.decoding.dropped[.undecodable] == 3)
        await engine.shutDown()
    }

    @Test func missingDecoderIsReportedOnce() async throws {
        backend.decoders.areMissing = true
        let engine = try await running()
        let events = engine.events
        engine.pushExternalEncodedVideoFrame(unit(.h264))
        await events.first(named: "sourceFailed")
        for _ in 0..<5 {
            let refused = engine.pushExternalEncodedVideoFrame(unit(.h264))
            #expect(refused == .dropped(.undecodable))
        }
        #expect(await engine.statistics.local[.main]?.decoding.dropped[.undecodable] == 6)
        // The decoder may be available at the next start.
        backend.decoders.areMissing = false
        try await engine.stopPreview()
        try await engine.startPreview()
        engine.pushExternalEncodedVideoFrame(unit(.h264))
        await sink.rendered(1)
        await engine.shutDown()
        #expect(await events.rest().count("sourceFailed") == 0)
    }

    @Test func failedCustomTrackIsNamedAndPostsNoState() async throws {
        backend.decoders.areMissing = true
        let engine = makeEngine(backend) { $0.hasVideo = false }
        let track = try await engine.createCustomVideoTrack(.encoded)
        try await engine.addVideoSink(ScriptedSink(sink), to: .local(track))
        let (events, news) = (engine.events, engine.events)
        try await engine.startPreview()
        engine.pushExternalEncodedVideoFrame(unit(.h264), track: track)
        await news.first(named: "sourceFailed", of: .video(track))
        await engine.shutDown()
        #expect(await events.rest().count("localState") == 0)
    }
}
