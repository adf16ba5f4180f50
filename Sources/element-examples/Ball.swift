import MediaBridgeElements

/// A live source: a ball that moves over a dark picture, 30 times a second.
///
/// ```sh
/// gst-launch-1.0 ball radius=40 ! videoconvert ! autovideosink
/// ```
final class Ball: VideoSource, MediaElement {
    static let summary = "A ball that moves over a dark picture"
    static let caps = "video/x-raw, format=GRAY8, width=320, height=240, framerate=30/1"

    let radius = MediaProperty("The radius of the ball, in pixels", in: 1...120, default: 20)

    var consumer: (any VideoFrameConsumer)?
    private var task: Task<Void, Never>?

    init() {}

    func shouldStart() {
        guard let consumer else { return }
        let radius = radius
        task = Task { await Ball.deliver(to: consumer, radius) }
    }

    func shouldStop() {
        task?.cancel()
        task = nil
    }

    private static func deliver(
        to consumer: any VideoFrameConsumer, _ radius: MediaProperty<Int>
    ) async {
        let start = ContinuousClock.now
        for number in 0... {
            // Relative to the start, so that errors do not add up.
            try? await Task.sleep(until: start + .seconds(1) * number / 30)
            guard !Task.isCancelled else { return }
            do {
                consumer.consume(try frame(number, radius: radius.value))
            } catch {
                return consumer.sourceDidFail(error)
            }
        }
    }

    private static func frame(_ number: Int, radius: Int) throws -> VideoFrame {
        let format = VideoFormat(
            .gray8, width: 320, height: 240, frameRate: VideoFormat.Rational(30, 1))
        var frame = try VideoFrame(
            format, runningTime: MediaTime(value: Int64(number), timescale: 30))
        let (x, y) = (number * 4 % format.width, number * 3 % format.height)
        try frame.withMutablePlanes { planes in
            planes[0].fill(16)
            for row in max(0, y - radius)..<min(format.height, y + radius) {
                var pixels = planes[0].row(row)
                for column in max(0, x - radius)..<min(format.width, x + radius)
                where (column - x) * (column - x) + (row - y) * (row - y) < radius * radius {
                    pixels[column] = 235
                }
            }
        }
        return frame
    }
}
