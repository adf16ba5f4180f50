/// One unit of encoded media: one picture, or a few milliseconds of audio.
final class EncodedUnit: Sendable {
    let kind: RecordingKind
    let buffer: Buffer
    let caps: Caps
    /// When the unit is decoded, in the recorder's own time: units are written in this order.
    let time: MediaTime
    /// When the unit is presented; may differ from the encoder's timestamp. Later than ``time``
    /// where an encoder reorders pictures (B-frames).
    let presented: MediaTime
    let duration: MediaTime?
    /// Whether a file may begin with the unit, because it references no earlier one.
    let isKey: Bool
    let byteCount: Int
    /// Whether it is the encoder's first unit.
    let isFirst: Bool
    /// Whether it is recorded unchanged: missing media is not replaced.
    let isCopy: Bool
    /// When the encoder delivered it, on the recorder's timeline.
    let arrival: Duration

    init(
        _ kind: RecordingKind, _ buffer: consuming Buffer, caps: Caps, time: MediaTime,
        presented: MediaTime? = nil, isFirst: Bool, isKey: Bool? = nil, isCopy: Bool = false,
        arrival: Duration
    ) {
        self.kind = kind
        self.caps = caps
        self.time = time
        self.presented = presented ?? time
        self.isFirst = isFirst
        self.isCopy = isCopy
        self.arrival = arrival
        duration = buffer.duration.map { MediaTime($0) }
        self.isKey = isKey ?? (kind == .audio || !buffer.isDelta)
        byteCount = buffer.byteCount
        self.buffer = buffer
    }

    /// Bytes of memory that the unit occupies, with an allowance for its overhead, which dominates
    /// for small units.
    var cost: Int { byteCount + 1_000 }

    /// The end of the unit; equal to its time if its duration is unknown.
    var end: MediaTime { time + (duration ?? .zero) }
}
