/// A renderer that requests a format other than the source's.
enum Conversions: Workload {
    static let name = "convert"

    static func comparisons(isFull: Bool, in media: Media) -> [Comparison] {
        [
            Comparison("convert", "BGRA to a renderer, from 1080p I420", pieces: 600) { frames in
                let capture = Media.still(frames)
                return [
                    .swift(
                        "MediaEngine, a renderer of BGRA", ["convert", "BGRA", capture],
                        limits: [Limit(.cpu, .ratio(1.05))]),
                    .c("C, GstVideoConverter", ["convert", "BGRA", capture]),
                    .launch(
                        "gst-launch-1.0, videoconvert",
                        "\(capture) ! videoconvert ! video/x-raw,format=BGRA ! \(Media.nowhere)"),
                ]
            }
        ]
    }
}
