/// The end of one recording of several: what was taken before it goes to the file, what comes after it is
/// kept for the next.
struct RecordingCut: Sendable {
    /// By stream: the first time that lies behind it.
    let times: [RecordingKind: MediaTime]
    /// By stream: what must have come until everything before it is there.
    let awaited: [RecordingKind: MediaTime]
    /// Open when the file is complete.
    let done = Latch()

    static let instant = MediaTime(nanoseconds: 1)
    /// What encoders of sound have in hand at most.
    private static let block = MediaTime(nanoseconds: 200_000_000)

    /// - Parameter marks: By stream, the last frame that was taken and when the next is due.
    init(_ marks: [RecordingKind: (last: MediaTime, next: MediaTime)]) {
        var times: [RecordingKind: MediaTime] = [:]
        var awaited: [RecordingKind: MediaTime] = [:]
        let pictures = marks[.video]
        for (kind, mark) in marks {
            // Sound is heard until the next picture is seen.
            let end = kind == .audio ? pictures?.next : nil
            times[kind] = end ?? mark.last + Self.instant
            awaited[kind] =
                kind == .video ? mark.last : min(mark.last, end ?? mark.last) - Self.block
        }
        self.times = times
        self.awaited = awaited
    }

    func isBehind(_ unit: EncodedUnit) -> Bool { times[unit.kind].map { unit.time >= $0 } ?? true }
}
