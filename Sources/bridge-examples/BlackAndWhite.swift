import ArgumentParser
import MediaBridge

/// A renderer as in OpenTok's first sample: it shows the picture without colours.
///
/// OpenTok's `renderVideoFrame:` corresponds to ``render(_:)``; all other methods of the protocol
/// have default implementations. The class need not be thread-safe: only the engine calls it, one
/// call at a time.
final class BlackAndWhiteRenderer: VideoSink {
    /// In place of a view: any gst-launch string that ends in a window, a file or an encoder.
    private let view: PipelineVideoSink

    init(view: PipelineVideoSink) { self.view = view }

    /// OpenTok's frames are always I420; here a renderer returns the format it needs, and the
    /// engine converts.
    func pixelFormat() -> VideoPixelFormat { .i420 }

    func render(_ frame: VideoFrame) throws {
        var gray = frame
        // The pixels are copied first if anything else holds them, so other renderers keep the
        // colours.
        try gray.withMutablePlanes { planes in
            for chroma in 1..<planes.count {
                let plane = planes[chroma]
                plane.fill(128)
            }
        }
        try view.render(gray)
    }
}

struct BlackAndWhite: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Render video in black and white.",
        usage: "bridge-examples black-and-white [<options>] <output>",
        discussion: """
            Examples:
              bridge-examples black-and-white gray.mkv
              bridge-examples black-and-white --capture "videotestsrc num-buffers=9" gray.png
            """)

    @Option(help: "Capture: a gst-launch string.")
    var capture = TestPicture.bars.film

    @Option(help: "Stop after this many seconds (e.g. 5). Default: when the capture ends.")
    var seconds: Double?

    @Argument(help: "File to write: .mkv, .yuv, .png or .jpg.")
    var output: String

    func run() async throws {
        let view = try Recording.sink(output)
        try await view.start()

        let engine = MediaEngine()
        let watch = Watch(engine)
        try await engine.setVideoSource(PipelineVideoSource(capture))
        try await engine.addVideoSink(
            BlackAndWhiteRenderer(view: view), to: .local(), options: .recording)
        try await engine.startPreview()
        await watch.untilTheEnd(within: seconds)
        await engine.shutDown()

        let report = try await view.finish()
        try await watch.check()
        print("\(report.frames) frames in black and white: \(output)")
    }
}
