/// The number of buffers that may wait in front of an output.
struct OutputQueueDepth: Sendable {
    /// The configured depth; `nil`: it depends on the buffers' caps.
    let asked: Int?
    /// Whether the output takes several streams: its muxer waits for the others, so a queue fills
    /// although no buffer is late.
    var isOfSeveral = false

    static let least = 4
    private static let most = 16
    private static let memory = 64_000_000
    /// Audio buffers are short: a queue of a few would hold a few milliseconds.
    private static let sound = 64

    /// - Parameter isLive: Whether the oldest buffer is evicted, so that a deep queue would only
    ///   add latency.
    func of(_ caps: Caps, isLive: Bool) -> Int {
        if caps.mediaType.hasPrefix("audio/") { return max(asked ?? 0, Self.sound) }
        if let asked { return max(1, asked) }
        guard !isLive || isOfSeveral, let info = VideoInfo(caps) else { return Self.least }
        return min(Self.most, max(Self.least, Self.memory / max(1, info.byteCount)))
    }
}
