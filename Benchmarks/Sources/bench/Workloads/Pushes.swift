/// Frames that a program creates and pushes.
enum Pushes: Workload {
    static let name = "push"

    static func comparisons(isFull: Bool, in media: Media) -> [Comparison] {
        [
            Comparison(
                "push-wrapped", "1080p of the program's memory, wrapped", pieces: 50_000,
                isCounted: true
            ) { frames in
                [
                    .swift(
                        "PipelineVideoSink.write", ["push", "wrapped", "\(frames)"],
                        limits: [
                            Limit(.cpu, .ratio(1.05)), Limit(.instructions, .value(92_000)),
                            Limit(.allocations, .value(30)),
                        ]),
                    .c("C, gst_buffer_new_wrapped", ["push", "wrapped", "\(frames)"]),
                ]
            },
            Comparison("push-copied", "1080p filled by the program", pieces: 1000) { frames in
                [
                    .swift("PipelineVideoSink.write", ["push", "copied", "\(frames)"]),
                    .c("C, gst_buffer_fill", ["push", "copied", "\(frames)"]),
                ]
            },
        ]
    }
}
