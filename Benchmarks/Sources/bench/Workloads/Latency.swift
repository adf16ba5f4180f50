/// The latency of a frame from a push to a renderer, at the pace of a camera.
enum Latency: Workload {
    static let name = "latency"

    static func comparisons(isFull: Bool, in media: Media) -> [Comparison] {
        (isFull ? [30, 60, 120] : [60]).map { rate in
            Comparison(
                "latency-\(rate)", "From push to render, 1080p at \(rate) a second, one renderer",
                pieces: (isFull ? 10 : 3) * rate, figures: [.p50, .p99, .p999, .cpu],
                isCounted: rate == 60
            ) { frames in
                let words = ["latency", "1", "\(frames)", "\(rate)"]
                return [
                    .swift(
                        "MediaEngine", words,
                        limits: [Limit(.p50, .more(15e-6)), Limit(.p99, .more(50e-6))]),
                    .c("C, appsrc to appsink", words),
                ]
            }
        }
    }
}
