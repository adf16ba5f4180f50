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

    func run(_ number: Int) async throws {
        let (host, guest) = (MediaEngine(transport: network), MediaEngine(transport: network))
        try await host.setVideoSource(PipelineVideoSource(Self.live))
        var upright = RendererOptions()
        upright.isUpright = true
        try await host.setLocalVideoRenderer(Viewer(), options: upright)
        try await host.addVideoRenderer(PipelineVideoSink("fakesink"), to: .local())
        try await guest.setRemoteVideoRenderer(Viewer(), forUserID: "host")
        try await host.startPreview()
        try await guest.joinChannel("cycle", userID: "guest", role: .audience)
        try await host.joinChannel("cycle", userID: "host")
        _ = try await guest.takeSnapshot(of: .remote("host"))
        try await host.setVideoSource(PipelineVideoSource(Self.live))
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

    /// Pictures, then a decoder that is given nonsense.
    private func push(to engine: MediaEngine) async throws {
        try await engine.setExternalVideoSource(enabled: true, useTexture: true)
        let frame = ExternalVideoFrame()
        frame.format = .pixelBuffer
        frame.textureBuf = try PixelBuffer(.i420, size: VideoSize(width: 160, height: 120))
        engine.pushExternalVideoFrame(frame)
        let track = try await engine.createCustomVideoTrack(encodedFrame: true)
        engine.pushExternalEncodedVideoFrame(
            EncodedVideoFrame(.mjpeg, bytes: [0xff, 0xd8, 0, 0], time: nil), track: track)
        try await engine.destroyCustomVideoTrack(track)
    }
}
