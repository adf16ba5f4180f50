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
        abstract: "Black and white for everybody, and a mark in the local view alone.")

    @Option(help: "Where the pictures come from.")
    var capture = TestPicture.bars.film

    @Option(help: "How long, where the capture does not end by itself.")
    var seconds: Double?

    @Argument(help: "A film or picture to write: the local view.")
    var local: String

    @Argument(help: "A film or picture to write: what the other one in the channel sees.")
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
        print("\(recording.statistics.written) frames in black and white, marked: \(local)")
        print("\(received.statistics.written) frames in black and white: \(remote)")
    }
}
