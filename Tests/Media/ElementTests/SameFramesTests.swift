import Foundation
import MediaBridge
import MediaBridgeElements
import Synchronization
import TestSupport
import Testing

/// Inverts every byte of a picture, less a value.
final class Negative: VideoProcessor, MediaElement, Sendable {
    static let caps = "video/x-raw, format={ I420, NV12, BGRA, GRAY8, GRAY16_LE }"
    let offset = MediaProperty("What is subtracted", in: 0...255, default: 0)

    func process(_ frame: consuming VideoFrame) throws -> VideoFrame? {
        let offset = UInt8(offset.value)
        try frame.withMutablePlanes { planes in
            for index in 0..<planes.count {
                let plane = planes[index]
                for y in 0..<plane.rows {
                    var row = plane.row(y)
                    for x in row.indices { row[x] = ~row[x] &- offset }
                }
            }
        }
        return frame
    }
}

/// Collects the visible bytes of the frames.
final class Pixels: VideoProcessor, VideoSink, Sendable {
    private let frames = Mutex<[[UInt8]]>([])

    func process(_ frame: consuming VideoFrame) throws -> VideoFrame? {
        let bytes = try Self.bytes(frame)
        frames.withLock { $0.append(bytes) }
        return frame
    }

    func render(_ frame: VideoFrame) throws { _ = try process(frame) }

    var all: [[UInt8]] { frames.withLock { $0 } }

    static func bytes(_ frame: VideoFrame) throws -> [UInt8] {
        try frame.withPlanes { planes in
            var bytes: [UInt8] = []
            for index in 0..<planes.count {
                for y in 0..<planes[index].rows {
                    planes[index].row(y).withUnsafeBytes { bytes += $0 }
                }
            }
            return bytes
        }
    }
}

/// A class gives the same pixels wherever it is used.
@Suite(.hangGuard)
struct SameFramesTests {
    struct Picture: CustomTestStringConvertible {
        let format: String
        let width: Int
        let height: Int
        /// Elements that shift the rows within their buffers.
        var crop = ""
        var testDescription: String { "\(format) \(width)×\(height)\(crop)" }

        static let all = ["I420", "NV12", "BGRA", "GRAY16_LE"].flatMap { format in
            [
                Picture(format: format, width: 320, height: 240),
                Picture(format: format, width: 63, height: 47),
                Picture(format: format, width: 1, height: 1),
                Picture(format: format, width: 66, height: 50, crop: " ! videocrop left=3 top=1"),
            ]
        }
        var source: String {
            "videotestsrc num-buffers=5 pattern=ball ! "
                + "video/x-raw,format=\(format),width=\(width),height=\(height),framerate=30/1\(crop)"
        }
    }

    init() throws { try ElementPlugin("frames", elements: [Negative.self]).register() }

    private func negative(_ offset: Int) -> Negative {
        let negative = Negative()
        negative.offset.value = offset
        return negative
    }

    @Test(arguments: Picture.all)
    func framesMatchInBridgeEngineStringAndPipelineFile(_ picture: Picture) async throws {
        var expected: [[UInt8]] = []
        for try await frame in try PipelineVideoSource("\(picture.source) ! appsink").frames() {
            expected.append(try Pixels.bytes(frame).map { ~$0 &- 7 })
        }
        #expect(expected.count == 5)

        let string = Pixels()
        var plan = BridgePlan(capture: "\(picture.source) ! negative offset=7")
        plan.processors = [string]
        _ = try await Bridge(plan).run().get()
        #expect(string.all == expected)

        let bridge = Pixels()
        plan = BridgePlan(capture: picture.source)
        plan.processors = [negative(7), bridge]
        _ = try await Bridge(plan).run().get()
        #expect(bridge.all == expected)

        let file = Pixels()
        plan = try BridgePlan(
            yaml: "capture: |\n  \(picture.source) ! negative offset=${offset}\n"
                + "variables:\n  offset: {default: 7, meaning: what is subtracted}\n",
            path: "negative.yaml")
        plan.processors = [file]
        _ = try await Bridge(plan).run().get()
        #expect(file.all == expected)

        let sink = Pixels()
        var configuration = MediaEngine.Configuration()
        configuration.isRealTime = false
        let engine = MediaEngine(configuration: configuration)
        let events = engine.events
        try await engine.setVideoProcessors([negative(7)], at: .capture)
        try await engine.setVideoSource(PipelineVideoSource(picture.source))
        var options = SinkOptions()
        (options.whenFull, options.mirror) = (.wait, .disabled)
        try await engine.addVideoSink(sink, to: .local(), options: options)
        try await engine.startPreview()
        for await event in events { if case .sourceEnded(.video) = event { break } }
        await engine.shutDown()
        #expect(sink.all == expected)
    }
}
