/// What an encoder gave for one picture, or for a few milliseconds of sound.
final class EncodedUnit: Sendable {
    let kind: RecordingKind
    let buffer: Buffer
    let caps: Caps
    /// In the recorder's own time.
    let time: MediaTime
    let duration: MediaTime?
    /// Whether a file may begin with it: it builds on none before.
    let isKey: Bool
    let byteCount: Int

    init(_ kind: RecordingKind, _ buffer: consuming Buffer, caps: Caps, time: MediaTime) {
        self.kind = kind
        self.caps = caps
        self.time = time
        duration = buffer.duration.map { MediaTime($0) }
        isKey = kind == .audio || !buffer.isDelta
        byteCount = buffer.byteCount
        self.buffer = buffer
    }

    /// Where it ends, as far as it says.
    var end: MediaTime { time + (duration ?? .zero) }
}
