import ArgumentParser
import MediaBridge

/// Switches from one camera to another and back during a recording.
///
/// The new source is started while the old one still runs, and takes over with its first frame: the
/// recording has no black frame, and no gap longer than a frame. Other SDKs stop the capturer
/// first, and the picture is black for seconds.
struct CameraSwitch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Two cameras in turn, in one recording without a gap.")

    @Option(help: "The camera in front; a string for a live capture.")
    var front = TestPicture.bars.camera

    @Option(help: "The camera at the back.")
    var back = TestPicture.ball.camera

    @Option(help: "How long each is shown.")
    var seconds = 0.7

    @Option(help: "How often the camera changes.")
    var switches = 3

    @Flag(help: "Prints every call that the engine made to sources and renderers.")
    var trace = false

    @Argument(help: "A film to write.")
    var output: String

    func run() async throws {
        let recording = try Recording.sink(output)
        let engine = MediaEngine()
        let watch = Watch(engine)
        try await engine.setVideoSource(PipelineVideoSource(front))
        try await engine.setLocalVideoRenderer(recording, options: .recording)
        try await engine.startPreview()
        if await watch.firstFrame() {
            for number in 0...switches {
                guard await watch.untilTheEnd(within: seconds) == .timeOver else { break }
                guard number < switches else { break }
                let next = number.isMultiple(of: 2) ? back : front
                try await engine.setVideoSource(PipelineVideoSource(next))
            }
        }
        await engine.shutDown()
        try await watch.check()
        print("\(recording.statistics.written) frames of two cameras: \(output)")
        if trace { engine.trace.forEach { print($0) } }
    }
}
