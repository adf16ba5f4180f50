import ArgumentParser
import MediaBridge
import Synchronization

/// Draws the newest picture of one capture into the pictures of another.
final class Inset: Sendable {
    private let newest = Mutex<VideoFrame?>(nil)

    /// Keeps each picture of the inset, and passes none on.
    struct Keeper: VideoProcessor {
        let inset: Inset
        func process(_ frame: consuming VideoFrame) -> VideoFrame? {
            let picture = frame
            inset.newest.withLock { $0 = picture }
            return nil
        }
    }

    /// Draws the kept picture into the upper left corner, 16 pixels from both edges.
    struct Painter: VideoProcessor {
        let inset: Inset
        func process(_ frame: consuming VideoFrame) throws -> VideoFrame? {
            guard let picture = inset.newest.withLock({ $0 }) else { return frame }
            try frame.withMutablePlanes { planes in
                try picture.withPlanes { small in
                    for index in 0..<small.count {
                        // The planes of the colours have half the size.
                        let margin = index == 0 ? 16 : 8
                        for y in 0..<small[index].rows {
                            var row = planes[index].row(margin + y)
                            let pixels = small[index].row(y)
                            for x in pixels.indices { row[margin + x] = pixels[x] }
                        }
                    }
                }
            }
            return frame
        }
    }
}

struct PictureInPicture: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Record a live capture with another one in its corner.",
        usage: "bridge-examples picture-in-picture [<options>] <output>",
        discussion: """
            Examples:
              bridge-examples picture-in-picture both.mkv
              bridge-examples picture-in-picture --capture ximagesrc --inset v4l2src both.mkv
            """)

    @Option(help: "Large picture: a gst-launch string.")
    var capture = "videotestsrc is-live=true pattern=smpte75"

    @Option(help: "Small picture: a gst-launch string.")
    var inset = "videotestsrc is-live=true pattern=ball"

    @Option(help: "Number of frames.")
    var frames = 90

    @Argument(help: "File to write: .mkv or .mp4.")
    var output: String

    func run() async throws {
        func scaled(_ text: String, to size: String) -> String {
            "\(text) ! videoconvert ! videoscale add-borders=true ! video/x-raw,format=I420,\(size)"
        }
        var plan = BridgePlan(captures: [
            BridgePlan.Named(name: "video", text: scaled(capture, to: "width=640,height=360")),
            BridgePlan.Named(name: "inset", text: scaled(inset, to: "width=160,height=90")),
        ])
        let inset = Inset()
        plan.streamProcessors = [
            "inset": [Inset.Keeper(inset: inset)], "video": [Inset.Painter(inset: inset)],
        ]
        plan.recordings = [BridgePlan.Recording(path: output)]
        plan.frameLimit = frames
        let bridge = try Bridge(plan)
        try await bridge.run(stopOn: [.interrupt, .terminate]).get()
        for file in bridge.recorders[0].report.files { print(file) }
    }
}
