import BridgeEngine
import MediaBridge
import MediaBridgeAgora
import MediaBridgeTesting
import TestSupport

/// Encoded frames all the way: an encoding camera, copied, sent and decoded; a call that the engines
/// encode; a film that is read as frames.
struct EncodedCycle {
    let directory: String

    /// A renderer that ignores its input.
    private final class Viewer: VideoSink {
        func renderPixelBuffer(_ pixelBuffer: PixelBuffer, rotation: VideoRotation) {}
    }

    private static let size = "video/x-raw,format=I420,width=64,height=48,framerate=100/1"

    func run(_ cycle: Int) async throws {
        try await read()
        try await call(isEncoded: cycle % 2 == 0, cycle)
    }

    private func read() async throws {
        let film = try PipelineVideoSource(
            "videotestsrc num-buffers=5 ! \(Self.size) ! x264enc tune=zerolatency ! h264parse")
        for try await _ in film.frames() {}
        for try await _ in film.frames() { break }
        let sound = try PipelineAudioSource("audiotestsrc num-buffers=5 ! opusenc")
        for try await _ in sound.frames() {}
    }

    private func call(isEncoded: Bool, _ cycle: Int) async throws {
        let network = LossyTransport(LoopbackNetwork(carriesRawFrames: !isEncoded))
        if cycle % 3 == 0 {
            var impairment = NetworkImpairment()
            impairment.loss = 0.1
            impairment.jitter = .milliseconds(5)
            network.impair(impairment)
        }
        let (host, guest) = (MediaEngine(transport: network), MediaEngine(transport: network))
        let end = isEncoded ? "" : " ! x264enc tune=zerolatency ! h264parse"
        try await host.setVideoSource(
            PipelineVideoSource("videotestsrc is-live=true ! \(Self.size)\(end)"))
        try await host.enableExternalAudioSource(sampleRate: 48000, channels: 1)
        var configuration = Recorder.Configuration()
        configuration.whenExists = .overwrite
        let recorder = try Recorder("\(directory)/encoded.mkv", configuration: configuration)
        try recorder.start()
        try await host.addRecorder(recorder)
        try await guest.addVideoSink(Viewer(), to: .remote("host"))
        try await guest.enableExternalAudioSink(sampleRate: 48000, channels: 1)
        try await guest.joinChannel("cycle", userID: "guest", role: .audience)
        let events = guest.events
        try await host.joinChannel("cycle", userID: "host")
        for index in 0..<6 {
            let frame = try AudioFrame(
                copying: [Int16](repeating: 100, count: 480), sampleRate: 48000, channels: 1,
                runningTime: MediaTime(value: Int64(index), timescale: 100))
            host.pushExternalAudioFrame(frame)
        }
        for await event in events { if case .firstFrame(.remote, _) = event { break } }
        _ = guest.pullPlaybackAudioFrame(length: 960)
        if cycle % 2 == 0 { try await guest.leaveChannel() }
        await host.shutDown()
        await guest.shutDown()
        try await recorder.stop()
    }
}
