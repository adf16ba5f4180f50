import ArgumentParser
import Foundation
import MediaBridge

/// A custom source as in Agora's MediaIO: it declares raw data, draws on its own thread, and
/// delivers plain bytes to its consumer.
///
/// Nothing here is Sendable or locked: only the engine calls the class, one call at a time, and the
/// thread uses only its own variables.
final class BarSource: VideoSource {
    var consumer: (any VideoFrameConsumer)?
    private let frames: Int
    private var thread: Thread?

    init(frames: Int) { self.frames = frames }

    func bufferType() -> VideoBufferType { .rawData }

    func shouldInitialize() -> Bool { true }

    func shouldStart() {
        guard let consumer else { return }
        let frames = frames
        thread = Thread { Self.deliver(frames, to: consumer) }
        thread?.start()
    }

    /// Frames delivered after this are discarded, so there is no need to wait for the thread.
    func shouldStop() {
        thread?.cancel()
        thread = nil
    }

    func shouldDispose() { consumer = nil }

    // MARK: On the thread

    private static let size = VideoSize(width: 320, height: 240)
    private static let framesPerSecond: Int32 = 30

    private static func deliver(_ frames: Int, to consumer: any VideoFrameConsumer) {
        let start = Date()
        for number in 0..<frames {
            // Relative to the start, not to the previous frame, so that errors do not add up.
            Thread.sleep(
                until: start.addingTimeInterval(Double(number) / Double(framesPerSecond)))
            if Thread.current.isCancelled { return }
            draw(number).withUnsafeBytes { bytes in
                guard let picture = bytes.baseAddress else { return }
                consumer.consumeRawData(
                    picture,
                    withTimestamp: MediaTime(value: Int64(number), timescale: framesPerSecond),
                    format: .i420, size: size, rotation: .upright)
            }
        }
        consumer.sourceDidEnd()
    }

    /// Draws a bright bar that moves over a coloured background: Y, then U and V with half the rows
    /// and columns.
    private static func draw(_ number: Int) -> [UInt8] {
        let (width, height) = (size.width, size.height)
        let bar = number * 4 % width
        let row = (0..<width).map { UInt8((bar..<bar + 16).contains($0) ? 235 : 80) }
        var picture: [UInt8] = []
        for _ in 0..<height { picture += row }
        picture += [UInt8](repeating: 160, count: width / 2 * height / 2)
        picture += [UInt8](repeating: 100, count: width / 2 * height / 2)
        return picture
    }
}

struct CustomSource: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Deliver raw bytes from a custom source with its own thread.",
        discussion: """
            Examples:
              bridge-examples custom-source bars.mkv
              bridge-examples custom-source --frames 1 bar.png
            """)

    @Option(help: "Number of frames, at 30 frames per second.")
    var frames = 60

    @Argument(help: "File to write: .mkv, .yuv, .png or .jpg.")
    var output: String

    func run() async throws {
        let recording = try Recording.sink(output)
        let engine = MediaEngine()
        let watch = Watch(engine)
        try await engine.setVideoSource(BarSource(frames: frames))
        try await engine.addVideoSink(recording, to: .local(), options: .recording)
        try await engine.startPreview()
        await watch.untilTheEnd()
        await engine.shutDown()
        try await watch.check()
        print("\(recording.statistics.frames) frames of moving bars: \(output)")
        // The calls that the engine made: query, initialize, start, stop, dispose.
        for transition in engine.trace where transition.hasPrefix("source") {
            print("  \(transition)")
        }
    }
}
