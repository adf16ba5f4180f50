import MediaBridge
import MediaBridgeWebRTC
import TestSupport

/// An engine with a WHEP server as its source, which it restarts after a failure.
enum RestartedPlayer {
    /// Prints `shows pictures` at the first frames, `failed: …`, and `shows again` at the frames after the last
    /// failure.
    static func run(_ url: String) async throws {
        var configuration = MediaEngine.Configuration()
        configuration.restart = RestartPolicy()
        configuration.restart?.longestDelay = .seconds(2)
        let engine = MediaEngine(configuration: configuration)
        let (count, events) = (Observed(0), engine.events)
        try await engine.setVideoSource(PipelineVideoSource(whep: url, token: "tok"))
        try await engine.addVideoSink(PictureCounter(count), to: .local())
        try await engine.startPreview()
        await count.wait { $0 >= 10 }
        writeLine("shows pictures")
        let hasFailed = Happening()
        let watching = Task {
            for await event in events {
                guard case .sourceFailed(_, let error) = event else { continue }
                writeLine("failed: \(error)")
                hasFailed.happen()
            }
        }
        await hasFailed.wait()
        let before = count.value
        await count.wait { $0 >= before + 10 }
        writeLine("shows again")
        await engine.shutDown()
        await watching.value
    }
}
