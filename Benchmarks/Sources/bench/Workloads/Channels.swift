/// Users of one channel in one process.
enum Channels: Workload {
    static let name = "channels"

    static func comparisons(isFull: Bool, in media: Media) -> [Comparison] {
        (isFull ? [2, 8, 32] : [8]).map { users in
            Comparison(
                "channel-\(users)",
                "A channel of \(users) users, one sends 1080p at 30 a second by reference",
                pieces: 90 * (users - 1), piece: "rendered frame",
                figures: [.cpu, .load, .peak, .switches],
                growth: isFull ? .init(plot: "users", count: users) : nil
            ) { deliveries in
                let frames = "\(deliveries / (users - 1))"
                return [
                    .swift("MediaEngine, loopback", ["channel", "\(users)", frames]),
                    .c(
                        "C, appsrc, tee and appsinks",
                        ["latency", "\(users - 1)", frames, "30"]),
                ]
            }
        }
    }
}
