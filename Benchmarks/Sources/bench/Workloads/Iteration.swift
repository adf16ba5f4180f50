/// A loop over the frames of a capture.
enum Iteration: Workload {
    static let name = "frames"

    static func comparisons(isFull: Bool, in media: Media) -> [Comparison] {
        [
            Comparison(
                "frames", "A loop over the frames of a capture", pieces: 100_000, isCounted: true
            ) { frames in
                [
                    .swift(
                        "for try await in frames()", ["frames", Media.still(frames)],
                        limits: [Limit(.cpu, .ratio(1.3)), Limit(.allocations, .value(6))]),
                    .c("C, pulling in a loop", ["pull", Media.still(frames)]),
                ]
            }
        ]
    }
}
