/// Decides how much may wait in front of an output.
struct OutputQueueDepth: Sendable {
    /// What may wait.
    struct Limit: Sendable {
        /// Number of buffers.
        let buffers: Int
        /// Number of bytes, in a queue whose oldest buffer is evicted; `nil`: no limit.
        var bytes: Int?
    }

    /// The configured number of buffers; `nil`: it depends on the buffers' caps.
    let asked: Int?
    /// Whether the output takes several streams: its muxer waits for the others, so a queue fills
    /// although no buffer is late.
    var isOfSeveral = false

    static let least = 4
    private static let most = 16
    private static let memory = 64_000_000
    /// Seconds of live sound that may wait for pictures: those of an encoder that looks ahead come
    /// seconds later.
    private static let lead = 10

    /// - Parameter isLive: Whether the oldest buffer is evicted, so that a deep queue of raw
    ///   buffers would only add latency.
    func limit(for caps: Caps, isLive: Bool) -> Limit {
        if let asked, !caps.isSound { return Limit(buffers: max(1, asked)) }
        if isLive, !caps.isRaw { return Limit(buffers: QueueDepth.encoded, bytes: Self.memory) }
        if isLive, isOfSeveral, let info = AudioInfo(caps) {
            let bytes = Self.lead * info.rate * info.bytesPerFrame
            return Limit(buffers: QueueDepth.encoded, bytes: bytes)
        }
        if caps.isSound { return Limit(buffers: max(asked ?? 0, QueueDepth.sound)) }
        guard !isLive || isOfSeveral, let info = VideoInfo(caps) else {
            return Limit(buffers: Self.least)
        }
        let fitting = Self.memory / max(1, info.byteCount)
        return Limit(buffers: min(Self.most, max(Self.least, fitting)))
    }
}
