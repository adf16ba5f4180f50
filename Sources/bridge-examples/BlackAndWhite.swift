import ArgumentParser
import MediaBridge

/// OpenTok's first sample: a renderer that shows the picture without its colours.
///
/// OpenTok's `renderVideoFrame:` is ``render(_:)``; the rest of the protocol has defaults. The class need
/// not be thread-safe: the engine alone calls it, one call at a time.
final class BlackAndWhiteRenderer: VideoSink {
    /// What a view is elsewhere: here any gst-launch string that ends in a window, a file, an encoder.
    private let view: PipelineVideoSink

    init(view: PipelineVideoSink) { self.view = view }

    /// OpenTok's frames are I420 always; here a renderer says what it wants, and the engine converts.
    func pixelFormat() -> VideoPixelFormat { .i420 }

    func render(_ frame: VideoFrame) throws {
        var gray = frame
        // Copied first, if anybody else sees these pixels: the other renderers keep their colours.
        try gray.withMutablePlanes { planes in
            for chroma in 1..<planes.count {
                var plane = planes.plane(chroma)
                plane.fill(128)
            }
        }
        try view.render(gray)
    }
}

struct BlackAndWhite: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "A renderer that shows the picture without its colours.")

    @Option(help: "Where the pictures come from.")
    var capture = TestPicture.bars.film

    @Option(help: "How long, where the capture does not end by itself.")
    var seconds: Double?

    @Argument(help: "A film or picture to write.")
    var output: String

    func run() async throws {
        let view = try Recording.sink(output)
        try await view.start()

        let engine = MediaEngine()
        let watch = Watch(engine)
        try await engine.setVideoSource(PipelineVideoSource(capture))
        try await engine.setLocalVideoRenderer(
            BlackAndWhiteRenderer(view: view), options: .recording)
        try await engine.startPreview()
        await watch.untilTheEnd(within: seconds)
        await engine.shutDown()

        let report = try await view.finish()
        try await watch.check()
        print("\(report.written) frames in black and white: \(output)")
    }
}
