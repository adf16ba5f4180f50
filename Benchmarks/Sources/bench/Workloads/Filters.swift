/// Filters that change every pixel, compared with a copy of as many bytes as they write.
enum Filters: Workload {
    static let name = "filters"

    static func comparisons(isFull: Bool, in media: Media) -> [Comparison] {
        // Enough frames for most of a second: start-up takes a few hundredths of one.
        let formats = isFull ? ["I420", "NV12", "BGRA"] : ["I420"]
        return ["I420", "NV12"].map { comparison("grayscale", $0, frames: 1_500) }
            + [comparison("grayscale", "BGRA", frames: 600)]
            + formats.map { comparison("mirror", $0, frames: 1_200) }
            + formats.map { comparison("rotate", $0, frames: 600) }
    }

    private static let titles = [
        "grayscale": "Black and white", "mirror": "Mirrored", "rotate": "Rotated by 90°",
    ]
    private static let elements = [
        "grayscale": "videobalance saturation=0", "mirror": "videoflip video-direction=horiz",
        "rotate": "videoflip video-direction=90r",
    ]

    private static func comparison(
        _ filter: String, _ format: String, frames: Int
    ) -> Comparison {
        Comparison(
            "\(filter)-\(format)", "\(titles[filter]!), 1080p \(format)", pieces: frames
        ) { frames in
            let capture = Media.still(frames, format: format)
            let bytes = 1920 * 1080 * (format == "BGRA" ? 8 : 3) / 2
            let option = filter == "rotate" ? "rotate=90" : filter
            let element = elements[filter]!
            var contestants: [Contestant] = [
                .bridge(
                    capture, Media.nowhere, options: ["--filter", option],
                    name: "gst-bridge run --filter \(option)",
                    limits: [Limit(.cpu, .ratio(1.05)), Limit(.wall, .ratio(1.05))]),
                .c("C", ["filter", filter, capture, Media.nowhere]),
                .c("memcpy of as many bytes", ["memory", "copy", "\(bytes)", "\(frames)"]),
                .launch(
                    "gst-launch-1.0, \(element.split(separator: " ")[0])",
                    "\(capture) ! \(element) ! queue ! \(Media.nowhere)"),
            ]
            if filter == "grayscale", format == "BGRA" {
                contestants.append(
                    .python(
                        "Python, OpenCV", "grayscale.py", [capture, "\(frames)"], imports: "cv2"))
            }
            return contestants
        }
    }
}
