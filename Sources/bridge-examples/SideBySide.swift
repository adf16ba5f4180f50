import ArgumentParser
import MediaBridge

/// A source that combines two others: their pictures side by side.
///
/// It reads both as async sequences; the engine sees one source like any other. A picture on the
/// left waits for the next one on the right.
final class SideBySideSource: VideoSource {
    var consumer: (any VideoFrameConsumer)?
    private let left: PipelineVideoSource
    private let right: PipelineVideoSource
    private var composing: Task<Void, Never>?

    /// Creates the two sources.
    ///
    /// - Parameters:
    ///   - left: A gst-launch string that paces its frames itself: a live one, or a film with
    ///     `identity sync=true` at its end.
    ///   - size: The size of each of the two pictures.
    init(left: String, right: String, size: VideoSize) throws {
        // GStreamer's elements convert both to the same format and size.
        let same =
            " ! videoconvert ! videoscale ! video/x-raw,format=I420,width=\(size.width),"
            + "height=\(size.height),pixel-aspect-ratio=1/1"
        self.left = try PipelineVideoSource(left + same)
        self.right = try PipelineVideoSource(right + same)
    }

    func bufferType() -> VideoBufferType { .pixelBuffer }

    func shouldInitialize() -> Bool { true }

    func shouldStart() {
        guard let consumer else { return }
        let (left, right) = (left, right)
        composing = Task { await SideBySideSource.deliver(left, right, to: consumer) }
    }

    /// Cancelling the task ends the iteration, which stops both pipelines.
    func shouldStop() {
        composing?.cancel()
        composing = nil
    }

    func shouldDispose() { consumer = nil }

    private static func deliver(
        _ left: PipelineVideoSource, _ right: PipelineVideoSource,
        to consumer: any VideoFrameConsumer
    ) async {
        do {
            var others = right.frames().makeAsyncIterator()
            for try await picture in left.frames() {
                guard let other = try await others.next() else { break }
                consumer.consume(try compose(picture, other))
            }
            consumer.sourceDidEnd()
        } catch {
            consumer.sourceDidFail(error)
        }
    }

    private static func compose(_ left: VideoFrame, _ right: VideoFrame) throws -> VideoFrame {
        let format = VideoFormat(
            .i420, width: left.width + right.width, height: max(left.height, right.height),
            frameRate: left.format.frameRate)
        var both = try VideoFrame(
            format, runningTime: left.runningTime, duration: left.duration)
        both.liveTiming = left.liveTiming
        try both.withMutablePlanes { target in
            for (picture, isRight) in [(left, false), (right, true)] {
                try picture.withPlanes { source in
                    for index in 0..<source.count {
                        var plane = target[index]
                        plane.paste(source[index], x: isRight ? plane.width / 2 : 0, y: 0)
                    }
                }
            }
        }
        return both
    }
}

struct SideBySide: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Combine two captures into one source, side by side.",
        usage: "bridge-examples side-by-side [<options>] <output>",
        discussion: """
            Examples:
              bridge-examples side-by-side both.mkv
              bridge-examples side-by-side --left "v4l2src ! videoconvert" both.mkv
            """)

    @Option(help: "Capture on the left: a gst-launch string.")
    var left = TestPicture.bars.film + " ! identity sync=true"

    @Option(help: "Capture on the right: a gst-launch string.")
    var right = TestPicture.ball.film + " ! identity sync=true"

    @Option(help: "Stop after this many seconds (e.g. 5). Default: when a capture ends.")
    var seconds: Double?

    @Argument(help: "File to write: .mkv, .yuv, .png or .jpg.")
    var output: String

    func run() async throws {
        let recording = try Recording.sink(output)
        let engine = MediaEngine()
        let watch = Watch(engine)
        try await engine.setVideoSource(
            SideBySideSource(left: left, right: right, size: VideoSize(width: 320, height: 240)))
        try await engine.setLocalVideoRenderer(recording, options: .recording)
        try await engine.startPreview()
        await watch.untilTheEnd(within: seconds)
        await engine.shutDown()
        try await watch.check()
        print("\(recording.statistics.written) frames side by side: \(output)")
    }
}
