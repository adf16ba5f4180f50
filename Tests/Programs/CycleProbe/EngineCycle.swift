import MediaBridge
import MediaBridgeAgora
import MediaBridgeTesting

/// The life of two engines in one channel: preview, call, hot swap, push mode, converted renderers, a
/// decoder, a snapshot, and an end in one of several states.
struct EngineCycle {
    private let network = LoopbackNetwork()
    private static let live =
        "videotestsrc is-live=true ! video/x-raw,format=I420,width=160,height=120,framerate=100/1"

    /// A renderer that ignores its input.
    private final class Viewer: VideoSink {
        func pixelFormat() -> VideoPixelFormat { .bgra }
        func renderPixelBuffer(_ pixelBuffer: PixelBuffer, rotation: VideoRotation) {}
    }

    /// Reports the release of a pipeline, whose listener holds the token: the engine releases pipelines
    /// on its own threads.
    private final class Token: Sendable {
        let release: AsyncStream<Void>.Continuation
        init(_ release: AsyncStream<Void>.Continuation) { self.release = release }
        deinit { release.yield() }
    }
    private let releases = AsyncStream.makeStream(of: Void.self)

    private func watch(_ pipeline: Pipeline) {
        let token = Token(releases.continuation)
        pipeline.onMessage { _ in withExtendedLifetime(token) {} }
    }

    /// Returns when both sources and the sink are released.
    func run(_ number: Int) async throws {
        try await live(number)
        for await _ in releases.stream.prefix(3) {}
    }

    private func live(_ number: Int) async throws {
        let (host, guest) = (MediaEngine(transport: network), MediaEngine(transport: network))
        let source = try PipelineVideoSource(Self.live)
        watch(source.pipeline)
        try await host.setVideoSource(source)
        var upright = SinkOptions()
        upright.isUpright = true
        try await host.addVideoSink(Viewer(), to: .local(), options: upright)
        try await add("fakesink", to: host)
        try await guest.addVideoSink(Viewer(), to: .remote("host"))
        try await host.startPreview()
        try await guest.joinChannel("cycle", userID: "guest", role: .audience)
        try await host.joinChannel("cycle", userID: "host")
        _ = try await guest.takeSnapshot(of: .remote("host"))
        let successor = try PipelineVideoSource(Self.live)
        watch(successor.pipeline)
        try await host.setVideoSource(successor)
        if number % 2 == 0 { try await push(to: host) }
        switch number % 3 {
        case 0:
            try await host.leaveChannel()
            try await host.stopPreview()
            try await guest.leaveChannel()
        case 1: try await host.stopPreview()
        default: network.close(channel: "cycle")
        }
        await host.shutDown()
        await guest.shutDown()
    }

    private func add(_ text: String, to engine: MediaEngine) async throws {
        let sink = try PipelineVideoSink(text)
        watch(sink.pipeline)
        try await engine.addVideoSink(sink, to: .local())
    }

    /// Frames, followed by invalid data for a decoder.
    private func push(to engine: MediaEngine) async throws {
        try await engine.setExternalVideoSource(.pixelBuffers)
        let frame = ExternalVideoFrame()
        frame.format = .pixelBuffer
        frame.textureBuf = try PixelBuffer(.i420, size: VideoSize(width: 160, height: 120))
        engine.pushExternalVideoFrame(frame)
        let track = try await engine.createCustomVideoTrack(.encoded)
        engine.pushExternalEncodedVideoFrame(
            EncodedVideoFrame(.mjpeg, bytes: [0xff, 0xd8, 0, 0], runningTime: nil), track: track)
        try await engine.destroyCustomVideoTrack(track)
    }
}
