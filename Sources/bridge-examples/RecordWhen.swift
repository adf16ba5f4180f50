import ArgumentParser
import MediaBridge

/// The program's own detector: the picture is bright. In its place: a neural network that finds a person.
struct BrightPicture: VideoDetector {
    /// Small pictures in RGB, ten a second. The default is luma, five a second.
    var analysis: PictureAnalysis {
        var analysis = PictureAnalysis()
        (analysis.pixelFormat, analysis.rate) = ("RGB", 10)
        return analysis
    }

    func inspect(_ picture: VideoFrame) throws -> Finding {
        let (sum, count) = try picture.withPlanes { planes in
            let plane = planes[0]
            var sum = 0
            for y in 0..<plane.rows {
                plane.row(y).withUnsafeBytes { row in for byte in row { sum += Int(byte) } }
            }
            return (sum, plane.rows * plane.layout.rowBytes)
        }
        let light = Double(sum) / Double(count) / 255
        return Finding(light > 0.5, score: light)
    }
}

struct RecordWhen: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Record while a detector of the program finds a bright picture.",
        usage: "bridge-examples record-when [<options>] <output>",
        discussion: """
            Examples:
              bridge-examples record-when bright.mkv
              bridge-examples record-when --capture "v4l2src ! videoconvert" bright.mkv
            """)

    @Option(help: "Capture: a gst-launch string.")
    var capture =
        "concat name=c ! appsink name=video"
        + ["black", "white", "black"].map {
            " videotestsrc num-buffers=60 pattern=\($0) ! "
                + "video/x-raw,format=I420,width=320,height=240,framerate=30/1 ! c."
        }.joined()

    @Argument(help: "File to write: .mkv or .mp4. Later events get numbered files.")
    var output: String

    func run() async throws {
        var plan = BridgePlan(capture: capture)
        plan.detectors = [StreamDetector("bright", pictures: { BrightPicture() })]
        var recording = BridgePlan.Recording(path: output)
        recording.configuration.whenExists = .number
        recording.events = RecordedEvents(before: .milliseconds(500), after: .seconds(1))
        plan.recordings = [recording]

        let bridge = try Bridge(plan)
        let events = bridge.events
        async let report = bridge.run(stopOn: [.interrupt, .terminate])
        for await case .detected(let event) in events {
            guard let end = event.ended else { continue }
            print("\(event.detector) from \(event.began) to \(end)")
        }
        try await report.get()
        for file in bridge.recorders[0].report.files { print(file) }
    }
}
