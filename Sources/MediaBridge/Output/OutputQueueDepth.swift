/// How many buffers may wait in front of an output.
struct OutputQueueDepth: Sendable {
    /// `nil`: by what they are.
    let asked: Int?
    /// Whether a muxer waits for others of the output, so that a queue is filled without being late.
    var isOfSeveral = false

    static let least = 4
    private static let most = 16
    private static let memory = 64_000_000
    /// Sound comes in small pieces: a few would be a few milliseconds.
    private static let sound = 64

    /// - Parameter isLive: Whether the oldest gives way, so that a deep queue would only be late.
    func of(_ caps: Caps, isLive: Bool) -> Int {
        if caps.mediaType.hasPrefix("audio/") { return max(asked ?? 0, Self.sound) }
        if let asked { return max(1, asked) }
        guard !isLive || isOfSeveral, let info = VideoInfo(caps) else { return Self.least }
        return min(Self.most, max(Self.least, Self.memory / max(1, info.byteCount)))
    }
}
