/// Many engines side by side in one process.
enum Engines: Workload {
    static let name = "engines"

    static func comparisons(isFull: Bool, in media: Media) -> [Comparison] {
        [1, 4, 16].map { count in
            Comparison(
                "engines-\(count)", "\(count) engines, each with a renderer, 1080p by reference",
                pieces: 40_000, growth: .init(plot: "engines", count: count)
            ) { frames in
                let words = ["\(count)", "\(frames / count)"]
                return [
                    .swift("MediaEngine", ["engines"] + words),
                    .c("C, as many pipelines", ["captures"] + words),
                ]
            }
        }
    }
}
