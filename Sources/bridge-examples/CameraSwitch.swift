import ArgumentParser
import BridgeCommands
import MediaBridge

/// Switches from one camera to another and back during a recording.
///
/// The new source is started while the old one still runs, and takes over with its first frame: the
/// recording has no black frame, and no gap longer than a frame. Other SDKs stop the capturer
/// first, and the picture is black for seconds. The recording keeps the size of its first frame. If a
/// source cannot start, the previous one continues, and the reason is thrown.
struct CameraSwitch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Switch between two cameras in one recording, without a gap.",
        usage: "bridge-examples camera-switch [<options>] <output>",
        discussion: """
            Examples:
              bridge-examples camera-switch cameras.mkv
              bridge-examples camera-switch --switches 5 --seconds 2 cameras.mkv
            """)

    @Option(help: "Front camera: a gst-launch string.")
    var front = TestPicture.bars.camera

    @Option(help: "Back camera: a gst-launch string.")
    var back = TestPicture.ball.camera

    @Option(help: "Seconds to show each source.")
    var seconds = 0.7

    @Option(help: "Number of switches.")
    var switches = 3

    @Flag(help: "Print every call of the engine to sources and renderers.")
    var trace = false

    @Argument(help: "File to write: .mkv, .yuv, .png or .jpg.")
    var output: String

    func run() async throws {
        let recording = try Recording.sink(output)
        let engine = MediaEngine()
        let watch = Watch(engine)
        try await engine.setVideoSource(PipelineVideoSource(front))
        try await engine.addVideoSink(recording, to: .local(), options: .recording)
        try await engine.startPreview()
        do {
            try await switchCameras(of: engine, watch)
        } catch {
            // Completes the file, so that the part recorded so far is kept.
            await engine.shutDown()
            throw error
        }
        await engine.shutDown()
        try await watch.check()
        print("\(recording.statistics.frames) frames of two cameras: \(output)")
        if trace { engine.trace.forEach { print($0) } }
    }

    private func switchCameras(of engine: MediaEngine, _ watch: Watch) async throws {
        guard await watch.firstFrame() else { return }
        for number in 0..<switches {
            guard await watch.untilTheEnd(within: seconds) == .timeOver else { return }
            let next = number.isMultiple(of: 2) ? back : front
            try await engine.setVideoSource(PipelineVideoSource(next))
            Terminal.log("switched at \(engine.runningTime)")
        }
        await watch.untilTheEnd(within: seconds)
    }
}
