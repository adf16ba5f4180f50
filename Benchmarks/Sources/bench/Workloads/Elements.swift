/// Swift classes as elements of GStreamer, beside elements in C in the same pipeline.
enum Elements: Workload {
    static let name = "elements"

    static func comparisons(isFull: Bool, in media: Media) -> [Comparison] {
        [
            Comparison(
                "element-empty", "An element that passes each frame on", pieces: 400_000,
                isCounted: true
            ) { frames in
                let capture = Media.still(frames, size: "16x16")
                return [
                    .swift(
                        "A class that returns the frame",
                        ["element", "\(capture) ! empty ! \(Media.nowhere)"]),
                    .c("C, identity", ["element", "\(capture) ! identity ! \(Media.nowhere)"]),
                    .c("Without an element", ["element", "\(capture) ! \(Media.nowhere)"]),
                ]
            },
            Comparison(
                "element-negative", "An element that inverts the luma of 1080p in place",
                pieces: 3_000
            ) { frames in
                let capture =
                    "videotestsrc pattern=black num-buffers=\(frames) ! "
                    + "video/x-raw,format=I420,width=1920,height=1080,framerate=30/1"
                return [
                    .swift(
                        "A class", ["element", "\(capture) ! negative ! \(Media.nowhere)"],
                        limits: [Limit(.cpu, .ratio(1.1))]),
                    .c(
                        "C, GstVideoFilter",
                        ["element", "\(capture) ! cnegative ! \(Media.nowhere)"]),
                    .c("Without an element", ["element", "\(capture) ! \(Media.nowhere)"]),
                ]
            },
        ]
    }
}
