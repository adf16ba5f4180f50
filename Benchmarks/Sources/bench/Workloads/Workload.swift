import Foundation

/// One kind of work, in its own file, with the comparisons that show its cost.
protocol Workload {
    /// The name for `--only`.
    static var name: String { get }
    /// The comparisons.
    ///
    /// - Parameter isFull: Whether to include the comparisons that take long.
    static func comparisons(isFull: Bool, in media: Media) -> [Comparison]
}

/// Every workload, in the order of the table.
let workloads: [any (Workload & Sendable).Type] = [
    BridgeAlone.self, Looking.self, Iteration.self, Filters.self, Elements.self, Conversions.self,
    Pushes.self,
    FanOut.self, Engines.self, Latency.self, StartUp.self, Films.self, Channels.self, Sound.self,
    Confinement.self, Long.self, Capacity.self, WebRTC.self,
]

/// Captures, and the films that workloads read.
struct Media {
    /// The directory for all output files; removed at the end.
    let directory: URL

    /// One frame, sent repeatedly by reference, so that only its transport is measured.
    static func still(
        _ frames: Int, format: String = "I420", size: String = "1920x1080"
    ) -> String {
        let sides = size.split(separator: "x")
        return "videotestsrc num-buffers=1 ! video/x-raw,format=\(format),width=\(sides[0]),"
            + "height=\(sides[1]),framerate=30/1 ! imagefreeze num-buffers=\(frames)"
    }

    static let nowhere = "fakesink sync=false async=false"

    /// Writes a film of H.264 and AAC in Matroska, 640×360 at 30 frames a second.
    static func makeFilm(at file: String, seconds: Int) throws {
        let line =
            "-q videotestsrc num-buffers=\(seconds * 30) ! "
            + "video/x-raw,format=I420,width=640,height=360,framerate=30/1 ! "
            + "x264enc speed-preset=veryfast ! h264parse ! m. "
            + "audiotestsrc num-buffers=\(seconds * 50) samplesperbuffer=960 ! "
            + "audio/x-raw,rate=48000,channels=2 ! avenc_aac ! aacparse ! m. "
            + "matroskamux name=m ! filesink location=\(file)"
        _ = try Program.run("gst-launch-1.0", line.split(separator: " ").map(String.init))
    }
}
