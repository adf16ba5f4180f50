/// A bridge with untrusted strings in a sandbox, compared with the same bridge without one.
enum Confinement: Workload {
    static let name = "untrusted"

    static func comparisons(isFull: Bool, in media: Media) -> [Comparison] {
        [
            Comparison(
                "untrusted", "A confined bridge, 1080p by reference", pieces: 100_000
            ) { frames in
                let (capture, output) = (Media.still(frames), Media.nowhere)
                return [
                    .bridge(
                        capture, output, options: ["--untrusted", media.directory.path],
                        name: "gst-bridge run --untrusted"),
                    .bridge(capture, output),
                ]
            }
        ]
    }
}
