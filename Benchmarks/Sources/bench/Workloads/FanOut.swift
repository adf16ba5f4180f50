/// One capture to many receivers.
enum FanOut: Workload {
    static let name = "fanout"

    static func comparisons(isFull: Bool, in media: Media) -> [Comparison] {
        [1, 4, 16, 64].map { sinks in
            Comparison(
                "fanout-\(sinks)", "One capture to \(sinks) receivers, 1080p by reference",
                pieces: sinks > 4 ? 10_000 : 40_000,
                isCounted: sinks == 1, growth: .init(plot: "receivers", count: sinks)
            ) { frames in
                let words = ["fanout", "\(sinks)", "\(frames)"]
                return [
                    .swift(
                        "MediaEngine", words,
                        limits: [
                            Limit(.cpu, .ratio(1)), Limit(.instructions, .value(126_000)),
                            Limit(.allocations, .value(20)),
                        ]),
                    .c("C, tee and queues", words),
                ]
            }
        }
    }
}
