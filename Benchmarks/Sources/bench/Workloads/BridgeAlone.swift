/// A bridge that only forwards frames, by reference.
enum BridgeAlone: Workload {
    static let name = "bridge"

    static func comparisons(isFull: Bool, in media: Media) -> [Comparison] {
        let sizes = isFull ? ["16x16", "320x240", "1920x1080", "3840x2160"] : ["1920x1080"]
        return sizes.map { size in
            Comparison(
                "bridge-\(size)", "A bridge, \(size), by reference", pieces: 100_000,
                isCounted: true
            ) { frames in
                let (capture, output) = (Media.still(frames, size: size), Media.nowhere)
                let depth = "max-size-buffers=16 max-size-bytes=0 max-size-time=0"
                return [
                    .bridge(
                        capture, output,
                        limits: [
                            Limit(.cpu, .ratio(1.05)), Limit(.wall, .ratio(1.05)),
                            Limit(.instructions, .value(16_500)), Limit(.allocations, .value(2.1)),
                        ]),
                    .c("C, appsink to appsrc", ["bridge", capture, output]),
                    .launch(
                        "gst-launch-1.0, a queue as deep",
                        "\(capture) ! queue \(depth) ! \(output)"),
                    .launch(
                        "gst-launch-1.0, its default queue", "\(capture) ! queue ! \(output)"),
                    .python(
                        "Python, appsink to appsrc", "bridge.py", [capture, output],
                        imports: "gi"),
                ]
            }
        }
    }
}
