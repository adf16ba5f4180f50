import BridgeEngine
import MediaBridgeAgora
import MediaBridgeTesting
import MediaCore
import TestSupport
import Testing

/// The geometry that renderers and the channel request, and the resulting requests to the backend.
@Suite(.hangGuard, .balanced)
struct GeometryTests {
    /// The request of one renderer, the frame it applies to, and the resulting conversion.
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var camera = false
        var rotation = VideoRotation.upright
        var format = VideoPixelFormat.any
        var upright = false
        var mirror = VideoMirrorMode.automatic
        var size: VideoSize?
        var conversion: VideoConversion?
        var testDescription: String { name }
    }

    static let mirrored = VideoConversion(isMirrored: true)
    // Frames are GRAY8, 4×2.
    static let cases = [
        Case(name: "nothing asked"),
        Case(name: "the same format", format: .gray8),
        Case(name: "another format", format: .i420, conversion: .init(pixelFormat: .i420)),
        Case(name: "upright, and it is", upright: true),
        Case(
            name: "upright, and it lies", rotation: .rotation90, upright: true,
            conversion: .init(rotation: .rotation90)),
        Case(name: "lying, as it is", rotation: .rotation90),
        Case(name: "automatic mirror, no camera"),
        Case(name: "automatic mirror, camera", camera: true, conversion: mirrored),
        Case(name: "mirror on", mirror: .enabled, conversion: mirrored),
        Case(name: "mirror off, camera", camera: true, mirror: .disabled),
        Case(
            name: "mirror of a picture that lies", rotation: .rotation270, mirror: .enabled,
            conversion: .init(rotation: .rotation180, isMirrored: true)),
        Case(
            name: "mirror of a picture on its head", rotation: .rotation180, mirror: .enabled,
            conversion: mirrored),
        Case(
            name: "mirror, upright", rotation: .rotation90, upright: true, mirror: .enabled,
            conversion: .init(rotation: .rotation90, isMirrored: true)),
        Case(name: "its own size", size: VideoSize(width: 4, height: 2)),
        Case(
            name: "another size", size: VideoSize(width: 8, height: 8),
            conversion: .init(size: VideoSize(width: 8, height: 8))),
        Case(
            name: "a size as seen, of a picture that lies", rotation: .rotation90,
            size: VideoSize(width: 2, height: 4)),
        Case(
            name: "another size as seen, of a picture that lies", rotation: .rotation90,
            size: VideoSize(width: 4, height: 2),
            conversion: .init(size: VideoSize(width: 2, height: 4))),
        Case(
            name: "its own size, and upright", rotation: .rotation90, upright: true,
            size: VideoSize(width: 2, height: 4), conversion: .init(rotation: .rotation90)),
        Case(
            name: "the size it had lying, upright", rotation: .rotation90, upright: true,
            size: VideoSize(width: 4, height: 2),
            conversion: .init(size: VideoSize(width: 4, height: 2), rotation: .rotation90)),
        Case(
            name: "everything", rotation: .rotation180, format: .nv12, upright: true,
            mirror: .enabled, size: VideoSize(width: 16, height: 8),
            conversion: .init(
                pixelFormat: .nv12, size: VideoSize(width: 16, height: 8), rotation: .rotation180,
                isMirrored: true)),
    ]

    @Test(arguments: cases)
    func localRendererGetsItsRequestedFormat(_ wanted: Case) async throws {
        let backend = TestBackend()
        let engine = makeEngine(backend)
        let source = SourceScript(captureType: wanted.camera ? .camera : .unknown)
        let sink = SinkScript(format: wanted.format)
        var options = SinkOptions()
        (options.isUpright, options.mirror) = (wanted.upright, wanted.mirror)
        options.size = wanted.size
        try await engine.setVideoSource(ScriptedSource(source))
        try await engine.setLocalVideoRenderer(ScriptedSink(sink), options: options)
        try await engine.startPreview()
        var original = try frame(0)
        original.rotation = wanted.rotation
        source.deliver(original)
        await sink.rendered(1)
        await engine.shutDown()
        #expect(backend.conversions.all == [wanted.conversion].compactMap { $0 })
        let shown = try #require(sink.frames.first)
        #expect(shown.rotation == (wanted.upright ? .upright : wanted.rotation))
        if wanted.conversion == nil { #expect(shown.storage === original.storage) }
    }

    @Test func remoteViewsAndTheChannelAreNotMirroredByDefault() async throws {
        let network = LoopbackNetwork()
        let (backend, far) = (TestBackend(), TestBackend())
        let engine = makeEngine(backend, transport: network)
        let other = makeEngine(far, transport: network)
        let (source, sink) = (SourceScript(captureType: .camera), SinkScript())
        try await other.setRemoteVideoRenderer(ScriptedSink(sink), forUserID: 1)
        try await other.joinChannel("room", userID: 2, role: .audience)
        try await engine.setVideoSource(ScriptedSource(source))
        try await engine.joinChannel("room", userID: 1)
        let original = try frame(0)
        source.deliver(original)
        await sink.rendered(1)
        #expect(sink.frames[0].storage === original.storage)
        var encoder = VideoEncoderConfiguration()
        (encoder.mirror, encoder.isUpright) = (.enabled, true)
        encoder.size = VideoSize(width: 8, height: 4)
        try await engine.setVideoEncoderConfiguration(encoder)
        var lying = try frame(1)
        lying.rotation = .rotation90
        source.deliver(lying)
        await sink.rendered(2)
        #expect(
            backend.conversions.all == [
                VideoConversion(
                    size: VideoSize(width: 8, height: 4), rotation: .rotation90, isMirrored: true)
            ])
        #expect(sink.frames[1].rotation == .upright)
        #expect(far.conversions.all.isEmpty)
        await engine.shutDown()
        await other.shutDown()
    }

    @Test func remoteRendererCanBeMirrored() async throws {
        let network = LoopbackNetwork()
        let far = TestBackend()
        let engine = makeEngine(transport: network)
        let other = makeEngine(far, transport: network)
        let (source, sink) = (SourceScript(), SinkScript())
        var options = SinkOptions()
        options.mirror = .enabled
        try await other.setRemoteVideoRenderer(
            ScriptedSink(sink), forUserID: 1, options: options)
        try await other.joinChannel("room", userID: 2, role: .audience)
        try await engine.setVideoSource(ScriptedSource(source))
        try await engine.joinChannel("room", userID: 1)
        try source.deliver(0)
        await sink.rendered(1)
        #expect(far.conversions.all == [Self.mirrored])
        await engine.shutDown()
        await other.shutDown()
    }

    @Test func theMirrorFollowsTheSource() async throws {
        let backend = TestBackend()
        let (engine, sink) = (makeEngine(backend), SinkScript())
        let camera = SourceScript(captureType: .camera)
        let screen = SourceScript(captureType: .screen)
        try await engine.setVideoSource(ScriptedSource(screen))
        try await engine.setLocalVideoRenderer(ScriptedSink(sink))
        try await engine.startPreview()
        try screen.deliver(0)
        await sink.rendered(1)
        try camera.deliverAtStart(0)
        try await engine.setVideoSource(ScriptedSource(camera))
        await sink.rendered(2)
        #expect(backend.conversions.all == [Self.mirrored])
        #expect(sink.frames.map { $0.metadata["converted"] } == [nil, "geometry"])
        await engine.shutDown()
    }

    @Test func eachDistinctRequestIsConvertedOnce() async throws {
        let backend = TestBackend()
        let (engine, source) = (makeEngine(backend), SourceScript())
        try await engine.setVideoSource(ScriptedSource(source))
        var sinks: [SinkScript] = []
        for number in 0..<12 {
            let sink = SinkScript(format: [.i420, .nv12, .any][number % 3])
            sinks.append(sink)
            try await engine.addVideoSink(ScriptedSink(sink), to: .local())
        }
        try await engine.startPreview()
        for number in 0..<5 {
            try source.deliver(number)
            for sink in sinks { await sink.rendered(number + 1) }
        }
        await engine.shutDown()
        let all = backend.conversions.all
        #expect(all.count == 10)
        #expect(all.filter { $0.pixelFormat == .i420 }.count == 5)
    }

    @Test func failedConversionIsReportedForItsRenderer() async throws {
        let backend = TestBackend()
        backend.conversions.failure = Refusal(reason: "no such format")
        let (engine, source) = (makeEngine(backend), SourceScript())
        let (odd, plain) = (SinkScript(format: "v210"), SinkScript())
        try await engine.setVideoSource(ScriptedSource(source))
        try await engine.setLocalVideoRenderer(ScriptedSink(odd))
        try await engine.addVideoSink(ScriptedSink(plain), to: .local())
        let events = engine.events
        try await engine.startPreview()
        try source.deliver(0)
        await plain.rendered(1)
        await events.first(named: "sinkFailed")
        #expect(odd.frames.isEmpty)
        await engine.shutDown()
    }
}
