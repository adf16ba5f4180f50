import ArgumentParser
import MediaBridge

/// A processor that draws a mark into the upper left corner of each picture.
///
/// It owns the frame it receives, so nothing is copied unless something else holds the pixels.
struct Watermark: VideoProcessor {
    func process(_ frame: consuming VideoFrame) throws -> VideoFrame? {
        var marked = frame
        guard marked.format.pixelFormat == .i420 else { return marked }
        try marked.withMutablePlanes { planes in
            let luma = planes[0]
            let width = luma.width
            for y in 12..<min(28, luma.rows) {
                let row = luma.row(y)
                for x in 12..<min(76, width) {
                    // Stripes, eight pixels wide.
                    let sample: UInt8 = x / 8 % 2 == 0 ? 235 : 16
                    row[x] = sample
                }
            }
        }
        return marked
    }
}

/// The two places for processors: after the capture, with effect for all receivers, and before
/// rendering, with effect for the local view only.
struct Processors: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send black-and-white video, with a watermark in the local view only.",
        usage: "bridge-examples processors [<options>] <local> <remote>",
        discussion: """
            Examples:
              bridge-examples processors local.mkv remote.mkv
              bridge-examples processors --seconds 1 local.png remote.png
            """)

    @Option(help: "Capture: a gst-launch string.")
    var capture = TestPicture.bars.film

    @Option(help: "Stop after this many seconds (e.g. 5). Default: when the capture ends.")
    var seconds: Double?

    @Argument(help: "File to write for the local view: .mkv, .yuv, .png or .jpg.")
    var local: String

    @Argument(help: "File to write for the remote user: .mkv, .yuv, .png or .jpg.")
    var remote: String

    func run() async throws {
        let (recording, received) = (try Recording.sink(local), try Recording.sink(remote))

        let other = MediaEngine()
        let arrivals = Watch(other)
        try await other.setRemoteVideoRenderer(received, forUserID: "anna", options: .recording)
        try await other.joinChannel("processors", userID: "otto", role: .audience)

        let engine = MediaEngine()
        let watch = Watch(engine)
        try await engine.setVideoSource(PipelineVideoSource(capture))
        try await engine.setVideoProcessors([GrayscaleFilter()], at: .capture)
        try await engine.setVideoProcessors([Watermark()], at: .render)
        try await engine.setLocalVideoRenderer(recording, options: .recording)
        try await engine.joinChannel("processors", userID: "anna")
        await watch.untilTheEnd(within: seconds)
        await engine.shutDown()

        await arrivals.first { event in
            if case .userOffline = event { true } else { nil }
        }
        await other.shutDown()
        try await watch.check()
        try await arrivals.check()
        print(
            "\(recording.statistics.written) frames in black and white with a watermark: \(local)")
        print("\(received.statistics.written) frames in black and white: \(remote)")
    }
}
