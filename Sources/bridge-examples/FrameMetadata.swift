import ArgumentParser
import Foundation
import MediaBridge
import Synchronization

/// Adds metadata to every frame: its number, and its capture time.
final class Stamp: VideoProcessor {
    private let frames = Atomic<Int>(0)

    func process(_ frame: consuming VideoFrame) -> VideoFrame? {
        var stamped = frame
        stamped.metadata["number"] = "\(frames.add(1, ordering: .relaxed).oldValue)"
        stamped.metadata["taken"] = "\(stamped.runningTime ?? .zero)"
        return stamped
    }
}

/// Reads the metadata of another engine's frames, which crossed the channel with the pixels, and
/// writes a table of it.
final class NoteTaker: VideoSink {
    private var lines: [String] = []
    private let path: String

    init(path: String) { self.path = path }

    func shouldStart() { lines = ["number,taken,due,picture"] }

    func render(_ frame: VideoFrame) {
        let (number, taken) = (frame.metadata["number"] ?? "", frame.metadata["taken"] ?? "")
        let due = frame.runningTime?.description ?? ""
        lines.append("\(number),\(taken),\(due),\(frame.width)x\(frame.height)")
    }

    func shouldStop() throws {
        let table = lines.joined(separator: "\n") + "\n"
        try table.write(toFile: path, atomically: true, encoding: .utf8)
    }
}

struct FrameMetadata: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Attach metadata to each frame, and read it across a channel.",
        usage: "bridge-examples frame-metadata [<options>] <output>",
        discussion: """
            Examples:
              bridge-examples frame-metadata notes.csv
              bridge-examples frame-metadata --capture "videotestsrc num-buffers=9" notes.csv
            """)

    @Option(help: "Capture: a gst-launch string.")
    var capture = TestPicture.ball.film

    @Option(help: "Stop after this many seconds (e.g. 5). Default: when the capture ends.")
    var seconds: Double?

    @Argument(help: "CSV file to write (e.g. notes.csv).")
    var output: String

    func run() async throws {
        let receiver = MediaEngine()
        let arrivals = Watch(receiver)
        var all = RendererOptions()
        all.whenFull = .wait
        try await receiver.setRemoteVideoRenderer(
            NoteTaker(path: output), forUserID: "anna", options: all)
        try await receiver.joinChannel("metadata", userID: "otto", role: .audience)

        let sender = MediaEngine()
        let watch = Watch(sender)
        try await sender.setVideoSource(PipelineVideoSource(capture))
        try await sender.setVideoProcessors([Stamp()], at: .capture)
        try await sender.joinChannel("metadata", userID: "anna")
        await watch.untilTheEnd(within: seconds)
        await sender.shutDown()

        // The event that the sender has left follows after its last frame.
        await arrivals.first { event in
            if case .userOffline = event { true } else { nil }
        }
        await receiver.shutDown()
        try await watch.check()
        try await arrivals.check()
        // In real time, frames that arrive faster than they are processed are dropped and counted.
        let taken = await sender.statistics.local[.main]?.delivered ?? 0
        let noted = await receiver.statistics.remote["anna"]?[.main]?.received ?? 0
        print("metadata of \(noted) of \(taken) frames: \(output)")
    }
}
