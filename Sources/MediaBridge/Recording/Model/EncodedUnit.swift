/// What an encoder gave for one picture, or for a few milliseconds of sound.
final class EncodedUnit: Sendable {
    let kind: RecordingKind
    let buffer: Buffer
    let caps: Caps
    /// When it is seen or heard, in the recorder's own time; not always the encoder's own word.
    let time: MediaTime
    let duration: MediaTime?
    /// Whether a file may begin with it: it builds on none before.
    let isKey: Bool
    let byteCount: Int
    /// Whether it is its encoder's first.
    let isFirst: Bool
    /// When its encoder gave it.
    let arrival: ContinuousClock.Instant

    init(
        _ kind: RecordingKind, _ buffer: consuming Buffer, caps: Caps, time: MediaTime,
        isFirst: Bool, isKey: Bool? = nil, arrival: ContinuousClock.Instant = .now
    ) {
        self.kind = kind
        self.caps = caps
        self.time = time
        self.isFirst = isFirst
        self.arrival = arrival
        duration = buffer.duration.map { MediaTime($0) }
        self.isKey = isKey ?? (kind == .audio || !buffer.isDelta)
        byteCount = buffer.byteCount
        self.buffer = buffer
    }

    /// Bytes of memory that it takes while it is held: small units are mostly what is around them.
    var cost: Int { byteCount + 1_000 }

    /// Where it ends, as far as it says.
    var end: MediaTime { time + (duration ?? .zero) }
}
