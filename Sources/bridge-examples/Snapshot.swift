import ArgumentParser
import MediaBridge

/// Takes one picture of the local user and one of the other user in a channel, each as a file.
///
/// Without `to:` a snapshot is returned as a ``VideoFrame``, to be kept or examined.
struct Snapshot: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Save a picture of the local user and one of the remote user.",
        usage: "bridge-examples snapshot [<options>] <local> <remote>",
        discussion: """
            Examples:
              bridge-examples snapshot local.png remote.png
              bridge-examples snapshot --mine "v4l2src ! videoconvert" local.jpg remote.jpg
            """)

    @Option(help: "Capture of the local user: a gst-launch string.")
    var mine = TestPicture.bars.camera

    @Option(help: "Capture of the remote user: a gst-launch string.")
    var theirs = TestPicture.ball.camera

    @Argument(help: "File to write for the local user: .png or .jpg.")
    var local: String

    @Argument(help: "File to write for the remote user: .png or .jpg.")
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
        print("local user: \(local); remote user: \(remote)")
    }
}
