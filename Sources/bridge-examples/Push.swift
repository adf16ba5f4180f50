import ArgumentParser
import Foundation
import MediaBridge
import MediaBridgeAgora

/// Push mode, which needs no class: the program reads raw pictures from a file and pushes each one,
/// with the fields of Agora's `AgoraVideoFrame`.
///
/// The stride is in pixels, and the picture is what remains after the crop: rows of 384 pixels, 64
/// of which are padding, have a stride of 384 and a crop of 64 on the right.
struct Push: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Push raw pictures with stride and crop into an engine.",
        usage: "bridge-examples push [<options>] <output>",
        discussion: """
            Examples:
              bridge-examples push pushed.mkv
              bridge-examples push --input raw.yuv --stride 640 --height 480 pushed.mkv
            """)

    @Option(help: "File of raw pictures (e.g. raw.yuv). Default: draw 60 pictures.")
    var input: String?

    @Option(help: "Pixels from one row to the next, padding included.")
    var stride = 384

    @Option(help: "Rows of a picture.")
    var height = 240

    @Option(help: "Pixel format: 1 I420, 2 BGRA, 3 NV21, 4 RGBA, 7 ARGB, 8 NV12, 16 I422.")
    var format = 1

    @Option(help: "Columns to crop on the left.")
    var cropLeft = 0

    @Option(help: "Rows to crop at the top.")
    var cropTop = 0

    @Option(help: "Columns to crop on the right. Default: 0, or stride / 6 without --input.")
    var cropRight: Int?

    @Option(help: "Rows to crop at the bottom.")
    var cropBottom = 0

    @Option(help: "Frames per second.")
    var rate: Int32 = 30

    @Argument(help: "File to write: .mkv, .yuv, .png or .jpg.")
    var output: String

    func run() async throws {
        let size = try pictureSize()
        let cropRight = cropRight ?? (input == nil ? stride / 6 : 0)
        let pictures =
            try input.map { try Data(contentsOf: URL(filePath: $0)) }
            ?? drawing(width: stride - cropRight)
        let recording = try Recording.sink(output)

        // A file has no natural pace: the engine runs as fast as it can and waits for its
        // receivers, and the same input gives the same output. A camera would keep `true`.
        var configuration = MediaEngine.Configuration()
        configuration.isRealTime = false
        let engine = MediaEngine(configuration: configuration)
        let watch = Watch(engine)
        try await engine.setExternalVideoSource(.bytes)
        try await engine.addVideoSink(recording, to: .local(), options: .recording)
        try await engine.startPreview()

        var number: Int64 = 0
        for start in Swift.stride(from: 0, to: pictures.count - size + 1, by: size) {
            let frame = ExternalVideoFrame()
            frame.format = PushFormat(rawValue: format)
            frame.time = MediaTime(value: number, timescale: rate)
            frame.strideInPixels = stride
            frame.height = height
            frame.dataBuf = [UInt8](pictures[start..<start + size])
            frame.cropLeft = cropLeft
            frame.cropTop = cropTop
            frame.cropRight = cropRight
            frame.cropBottom = cropBottom
            // The result contains the reason for a refusal.
            if case .dropped(let cause) = engine.pushExternalVideoFrame(frame) {
                throw EngineError(
                    .invalidArgument, message: "frame \(number) was dropped: \(cause)")
            }
            number += 1
        }
        await engine.shutDown()
        try await watch.check()
        print("\(recording.statistics.frames) of \(number) pushed frames: \(output)")
    }

    /// Returns the number of bytes of a picture in the file, including padding.
    private func pictureSize() throws -> Int {
        guard let format = VideoPixelFormat(push: PushFormat(rawValue: format)) else {
            throw ValidationError("--format \(format) is not a pixel format")
        }
        let planes = try format.packedPlanes(VideoSize(width: stride, height: height))
        return planes.map { $0.offset + $0.stride * $0.rows }.max() ?? 0
    }

    /// Draws two seconds of a falling bar. The padding is bright green, so that it would be
    /// visible.
    private func drawing(width: Int) throws -> Data {
        guard format == 1, (1...stride).contains(width) else {
            throw ValidationError(
                "Without --input, --format must be 1 and --crop-right less than --stride")
        }
        let half = (stride + 1) / 2
        var pictures = Data()
        for number in 0..<60 {
            for row in 0..<height {
                let bar = number * 4 % height
                let luma: UInt8 = (bar..<bar + 16).contains(row) ? 235 : 60
                pictures += Data(repeating: luma, count: width)
                pictures += Data(repeating: 150, count: stride - width)
            }
            for chroma: UInt8 in [100, 180] {
                for _ in 0..<(height + 1) / 2 {
                    pictures += Data(repeating: chroma, count: (width + 1) / 2)
                    pictures += Data(repeating: 40, count: half - (width + 1) / 2)
                }
            }
        }
        return pictures
    }
}
