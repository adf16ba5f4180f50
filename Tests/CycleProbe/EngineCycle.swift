import MediaBridge

/// The life of two engines in one channel: preview, call, hot swap, push mode, converted renderers, a
/// decoder, a snapshot, and the end in one of several states.
struct EngineCycle {
    private let network = LoopbackNetwork()
    private static let live =
        "videotestsrc is-live=true ! video/x-raw,format=I420,width=160,height=120,framerate=100/1"

    /// A renderer that takes what it is given.
    private final class Viewer: VideoSink {
        func pixelFormat() -> VideoPixelFormat { .bgra }
        func renderPixelBuffer(_ pixelBuffer: PixelBuffer, rotation: VideoRotation) {}
    }

    /// Whether everything that was handed over is gone: the engine lets go of it on its own threads.
    private final class Remains {
        weak var source: PipelineVideoSource?
        weak var successor: PipelineVideoSource?
        weak var sink: PipelineVideoSink?
        var areGone: Bool { source == nil && successor == nil && sink == nil }
    }

    /// Returns when nothing of it is left.
    func run(_ number: Int) async throws {
        let remains = Remains()
        try await live(number, remains)
        while !remains.areGone { await Task.yield() }
    }

    private func live(_ number: Int, _ remains: Remains) async throws {
        let (host, guest) = (MediaEngine(transport: network), MediaEngine(transport: network))
        let source = try PipelineVideoSource(Self.live)
        remains.source = source
        try await host.setVideoSource(source)
        var upright = RendererOptions()
        upright.isUpright = true
        try await host.setLocalVideoRenderer(Viewer(), options: upright)
        try await add("fakesink", to: host, remains)
        try await guest.setRemoteVideoRenderer(Viewer(), forUserID: "host")
        try await host.startPreview()
        try await guest.joinChannel("cycle", userID: "guest", role: .audience)
        try await host.joinChannel("cycle", userID: "host")
        _ = try await guest.takeSnapshot(of: .remote("host"))
        let successor = try PipelineVideoSource(Self.live)
        remains.successor = successor
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

    private func add(_ text: String, to engine: MediaEngine, _ remains: Remains) async throws {
        let sink = try PipelineVideoSink(text)
        remains.sink = sink
        try await engine.addVideoRenderer(sink, to: .local())
    }

    /// Pictures, then a decoder that is given nonsense.
    private func push(to engine: MediaEngine) async throws {
        try await engine.setExternalVideoSource(enabled: true, useTexture: true)
        let frame = ExternalVideoFrame()
        frame.format = .pixelBuffer
        frame.textureBuf = try PixelBuffer(.i420, size: VideoSize(width: 160, height: 120))
        engine.pushExternalVideoFrame(frame)
        let track = try await engine.createCustomVideoTrack(encodedFrame: true)
        engine.pushExternalEncodedVideoFrame(
            EncodedVideoFrame(.mjpeg, bytes: [0xff, 0xd8, 0, 0], runningTime: nil), track: track)
        try await engine.destroyCustomVideoTrack(track)
    }
}
