import ArgumentParser
import MediaBridge

/// One picture of oneself and one of the other in a channel, each as a file.
///
/// A snapshot is a ``VideoFrame`` like any other: it may be kept, looked into, and written as PNG or JPEG.
struct Snapshot: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "A picture of oneself and one of the other in a channel.")

    @Option(help: "One's own pictures.")
    var mine = TestPicture.camera("smpte")

    @Option(help: "The other one's pictures.")
    var theirs = TestPicture.camera("ball")

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
        let pictures = [
            (try await engine.takeSnapshot(), local),
            (try await engine.takeSnapshot(of: .remote("otto")), remote),
        ]
        await engine.shutDown()
        await other.shutDown()
        for (frame, path) in pictures {
            try await frame.writePicture(to: path)
            print("\(frame): \(path)")
        }
    }
}
