/// A bridge whose closure sees every frame, or reads a pixel of it.
enum Looking: Workload {
    static let name = "look"

    static func comparisons(isFull: Bool, in media: Media) -> [Comparison] {
        [
            Comparison(
                "each", "A bridge with a closure that sees each frame", pieces: 100_000,
                isCounted: true
            ) { frames in
                let (capture, output) = (Media.still(frames), Media.nowhere)
                return [
                    .swift(
                        "Bridge.run, eachFrame", ["each", capture, output],
                        limits: [Limit(.allocations, .value(3.1))]),
                    .c("C, appsink to appsrc", ["bridge", capture, output]),
                ]
            },
            Comparison(
                "look", "A bridge with a closure that reads a pixel of each", pieces: 100_000,
                isCounted: true
            ) { frames in
                let (capture, output) = (Media.still(frames), Media.nowhere)
                return [
                    .swift(
                        "Bridge.run, eachFrame", ["look", capture, output],
                        limits: [
                            Limit(.cpu, .ratio(1.1)), Limit(.instructions, .value(53_000)),
                            Limit(.allocations, .value(6.1)),
                        ]),
                    .c("C, which maps and reads", ["look", capture, output]),
                ]
            },
        ]
    }
}
