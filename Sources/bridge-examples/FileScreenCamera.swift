import ArgumentParser
import MediaBridge

/// A file, the screen and a camera as sources of one engine, one after the other.
///
/// The recording keeps the size of its first frame, regardless of the sizes of later frames. If a
/// source cannot start, the previous one continues, and the reason is thrown.
struct FileScreenCamera: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Record a file, the screen and a camera in turn.",
        usage: "bridge-examples file-screen-camera [<options>] <output>",
        discussion: """
            Examples:
              bridge-examples file-screen-camera three.mkv
              bridge-examples file-screen-camera --camera "v4l2src ! videoconvert" three.mkv
            """)

    @Option(help: "File: a gst-launch string.")
    var file = TestPicture.ball.film

    @Option(help: "Screen: a gst-launch string. Default: the X display, or noise without one.")
    var screen: String?

    @Option(help: "Camera: a gst-launch string.")
    var camera = TestPicture.bars.camera

    @Option(help: "Seconds to show each source.")
    var seconds = 0.7

    @Argument(help: "File to write: .mkv, .yuv, .png or .jpg.")
    var output: String

    func run() async throws {
        let recording = try Recording.sink(output)
        let engine = MediaEngine()
        let watch = Watch(engine)
        try await engine.setLocalVideoRenderer(recording, options: .recording)
        do {
            try await show(on: engine, watch)
        } catch {
            // Completes the file, so that the part recorded so far is kept.
            await engine.shutDown()
            throw error
        }
        await engine.shutDown()
        try await watch.check()
        print("\(recording.statistics.written) frames of three sources: \(output)")
    }

    private func show(on engine: MediaEngine, _ watch: Watch) async throws {
        for (name, text) in [("file", file), ("screen", screen ?? anyScreen), ("camera", camera)] {
            try await engine.setVideoSource(PipelineVideoSource(text))
            // Starting the preview starts the first source; the later ones replace it while it
            // runs.
            if await !engine.isPreviewing {
                try await engine.startPreview()
                guard await watch.firstFrame() else { return }
            }
            Terminal.say("showing the \(name) from \(engine.runningTime)")
            let end = await watch.untilTheEnd(within: seconds)
            // A film may end before its time is over.
            guard end == .timeOver || end == .sourceEnded else { return }
        }
    }

    private var anyScreen: String {
        DefaultCapture.display == nil
            ? TestPicture.snow.camera
            : "ximagesrc use-damage=false ! videoconvert ! videorate ! video/x-raw,framerate=30/1"
    }
}
