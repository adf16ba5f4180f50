/// The time that a command takes for one frame: mostly its start.
enum StartUp: Workload {
    static let name = "start"

    static func comparisons(isFull: Bool, in media: Media) -> [Comparison] {
        [
            Comparison("start", "Start to end of one frame", pieces: 1, piece: "start") { _ in
                let capture = "videotestsrc num-buffers=1"
                return [
                    .bridge(capture, "fakesink", limits: [Limit(.wall, .more(40e-3))]),
                    .launch("gst-launch-1.0", "\(capture) ! fakesink"),
                ]
            }
        ]
    }
}
