import ArgumentParser
import MediaBridge

/// Takes one picture of the local user and one of the other user in a channel, each as a file.
///
/// Without `to:` a snapshot is returned as a ``VideoFrame``, to be kept or examined.
struct Snapshot: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "A picture of oneself and one of the other in a channel.")

    @Option(help: "One's own pictures.")
    var mine = TestPicture.bars.camera

    @Option(help: "The other one's pictures.")
    var theirs = TestPicture.ball.camera

    @Argument(help: "A picture to write, .png or .jpg: one's own.")
    var local: String

    @Argument(help: "A picture to write, .png or .jpg: the other one's.")
    var remote: String

    func run() async throws {
        let (engine, other) = (MediaEngine(), MediaEngine())
        try await engine.setVideoSource(PipelineVideoSource(mine))
        try await other.setVideoSource(PipelineVideoSource(theirs))
        try await engine.joinChannel("snapshot", userID: "anna")
        try await other.joinChannel("snapshot", userID: "otto")
        try await engine.takeSnapshot(to: local)
        try await engine.takeSnapshot(of: .remote("otto"), to: remote)
        await engine.shutDown()
        await other.shutDown()
        print("oneself: \(local); the other: \(remote)")
    }
}
