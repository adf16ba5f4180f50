import MediaBridge
import MediaBridgeWebRTC
import TestSupport

/// An engine whose source is a WHEP server, and that restarts it where it fails.
enum RestartedPlayer {
    /// Says `shows pictures` of the first pictures, `failed: …`, and `shows again` of those after the last failure.
    static func run(_ url: String) async throws {
        var configuration = MediaEngine.Configuration()
        configuration.restart = RestartPolicy()
        configuration.restart?.longestDelay = .seconds(2)
        let engine = MediaEngine(configuration: configuration)
        let (count, events) = (Observed(0), engine.events)
        try await engine.setVideoSource(WHEPSource(url, token: "tok"))
        try await engine.setLocalVideoRenderer(PictureCounter(count))
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
