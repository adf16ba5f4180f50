import ArgumentParser
import MediaBridge
import Synchronization

/// The usual view of a call: the other user large, and the local user small in the corner.
///
/// It consists of two renderers. The engine calls each on its own thread, so their shared state is
/// locked.
final class CallView: Sendable {
    private let small = Mutex<VideoFrame?>(nil)
    private let view: PipelineVideoSink

    init(view: PipelineVideoSink) { self.view = view }

    /// The renderer of the local view: keeps the newest picture. The engine scales it
    /// (``RendererOptions/size``).
    final class Inset: VideoSink {
        private let whole: CallView
        init(of whole: CallView) { self.whole = whole }

        func pixelFormat() -> VideoPixelFormat { .i420 }
        func render(_ frame: VideoFrame) { whole.small.withLock { $0 = frame } }
        func shouldStop() { whole.small.withLock { $0 = nil } }
    }

    /// The renderer of the remote view: draws the newest small picture into each large one.
    final class Large: VideoSink {
        private let whole: CallView
        init(of whole: CallView) { self.whole = whole }

        func pixelFormat() -> VideoPixelFormat { .i420 }

        func render(_ frame: VideoFrame) throws {
            var frame = frame
            if let small = whole.small.withLock({ $0 }) { try draw(small, into: &frame) }
            try whole.view.render(frame)
        }

        private func draw(_ small: VideoFrame, into large: inout VideoFrame) throws {
            try large.withMutablePlanes { target in
                try small.withPlanes { source in
                    for index in 0..<source.count {
                        var plane = target[index]
                        // 16 pixels from the lower right corner; half as many chroma samples.
                        let margin = index == 0 ? 16 : 8
                        plane.paste(
                            source[index], x: max(0, plane.width - source[index].width - margin),
                            y: max(0, plane.rows - source[index].rows - margin))
                    }
                }
            }
        }
    }
}

struct PictureInPicture: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the remote user large, and the local user in a corner.",
        usage: "bridge-examples picture-in-picture [<options>] <output>",
        discussion: """
            Examples:
              bridge-examples picture-in-picture call.mkv
              bridge-examples picture-in-picture --local "v4l2src ! videoconvert" call.mkv
            """)

    @Option(help: "Capture of the remote user: a gst-launch string.")
    var remote = TestPicture.bars.film

    @Option(help: "Capture of the local user: a gst-launch string.")
    var local = TestPicture.ball.camera

    @Option(help: "Stop after this many seconds (e.g. 5). Default: when the remote capture ends.")
    var seconds: Double?

    @Argument(help: "File to write: .mkv, .yuv, .png or .jpg.")
    var output: String

    func run() async throws {
        let view = try Recording.sink(output)
        try await view.start()
        let whole = CallView(view: view)

        let (me, other) = (MediaEngine(), MediaEngine())
        let watch = Watch(other)
        var small = RendererOptions()
        small.size = VideoSize(width: 96, height: 72)
        try await me.setVideoSource(PipelineVideoSource(local))
        try await me.setLocalVideoRenderer(CallView.Inset(of: whole), options: small)
        try await me.setRemoteVideoRenderer(
            CallView.Large(of: whole), forUserID: "otto", options: .recording)
        try await me.joinChannel("picture-in-picture", userID: "anna")
        // Waits for the first local picture before the other user joins.
        _ = try await me.takeSnapshot()

        let arrivals = Watch(me)
        try await other.setVideoSource(PipelineVideoSource(remote))
        try await other.joinChannel("picture-in-picture", userID: "otto")
        await watch.untilTheEnd(within: seconds)
        await other.shutDown()
        // The event that the other user has left follows after his last picture.
        await arrivals.first { event in
            if case .userOffline = event { true } else { nil }
        }
        await me.shutDown()

        let report = try await view.finish()
        try await watch.check()
        try await arrivals.check()
        print("\(report.written) frames with a small picture in the corner: \(output)")
    }
}
