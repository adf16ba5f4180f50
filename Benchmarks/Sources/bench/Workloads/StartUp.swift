/// The cost of starting a command.
enum StartUp: Workload {
    static let name = "start"

    static func comparisons(isFull: Bool, in media: Media) -> [Comparison] {
        [
            Comparison("start", "Start to end of one frame", pieces: 1, piece: "start") { _ in
                let capture = "videotestsrc num-buffers=1"
                return [
                    .bridge(
                        capture, "fakesink",
                        limits: [
                            Limit(.cpu, .more(15e-3)), Limit(.wall, .more(40e-3)),
                            Limit(.peak, .more(14 * 1_048_576)),
                        ]),
                    .launch("gst-launch-1.0", "\(capture) ! fakesink"),
                ]
            },
            Comparison("version", "`--version`", pieces: 1, piece: "start") { _ in
                [
                    .command(
                        "gst-bridge --version", ["--version"],
                        limits: [Limit(.cpu, .value(8e-3)), Limit(.peak, .value(14 * 1_048_576))]),
                    .launch("gst-launch-1.0 --version", "--version"),
                ]
            },
        ]
    }
}
